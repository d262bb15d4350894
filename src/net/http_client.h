// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over a connected byte stream, one request per connection. This folder looks up no host
// names and knows nothing of Tenon's own words.
#ifndef TENON_NET_HTTP_CLIENT_H_
#define TENON_NET_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::net {

// Connects to the Unix socket `path`. `timeout_ms` 0: waits for ever. The connection blocks.
// kNotFound: no such socket; kDenied: we may not use it; kUnavailable: nobody listens, or the time
// was up; kInvalid: not a stream socket, or `path` is too long for one.
Result<UniqueFd> DialUnix(const std::string& path, int timeout_ms);

struct HttpRequest {
  std::string method = "GET";
  std::string target = {};  // "/v1.41/info?x=y", already escaped
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Used instead of `body` when set: called for one piece after the other until it returns an empty
  // one. The pieces are sent chunked. Its Error ends Send().
  std::function<Result<std::string>()> body_source = {};
  bool upgrade = false;  // asks for a raw stream ("Upgrade: tcp")
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view Header(std::string_view name) const;  // ignores case; "" = absent
};

// A request that has been sent. The answer is read when the caller asks for it.
class HttpExchange {
 public:
  // Sends the request. Every wait on the connection lasts at most `idle_timeout_ms` (0: for ever).
  // If the peer answers before it has the whole request, the rest is not sent. kInvalid: the
  // request has blanks or control characters where HTTP allows none. Here and below, kUnavailable:
  // the connection broke or the time was up; kCorrupt: the answer is not HTTP.
  static Result<HttpExchange> Send(UniqueFd connection, const std::string& host,
                                   HttpRequest request, int idle_timeout_ms);
  HttpExchange(HttpExchange&&) noexcept;
  HttpExchange& operator=(HttpExchange&&) noexcept;
  ~HttpExchange();

  // Reads the head of the answer, of 64 KiB at most.
  Result<HttpResponse> ReadHead();
  // The next piece of the body as it comes; empty at the end of the body. Needs the head to be
  // read.
  Result<std::string> ReadSome();
  // ReadHead() and ReadSome() without waiting; nullopt: it has not come yet. After a nullopt the
  // connection becomes readable only when there is more to take.
  Result<std::optional<HttpResponse>> TryReadHead();
  Result<std::optional<std::string>> TryReadSome();
  // The rest of the body. Fails with kInvalid when it is longer than `limit` bytes.
  Result<std::string> ReadAll(size_t limit);
  // Takes the connection out of the exchange, with the bytes read beyond the head. For a head that
  // says 101, or 200 to a request for an upgrade.
  std::pair<UniqueFd, std::string> Release();
  // For polling: readable when more of the answer has come. The exchange keeps owning it.
  int fd() const;
  void SetIdleTimeout(int timeout_ms);

 private:
  struct State;
  explicit HttpExchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "a b" → "a%20b", for a part of a path or of a query.
std::string EscapeUrl(std::string_view text);

}  // namespace tenon::net

#endif  // TENON_NET_HTTP_CLIENT_H_
