// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over a connected byte stream, one request per connection. No names are looked up and no
// Tenon word is known here.
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

// kNotFound: no socket there; kDenied: not for us; kUnavailable: nobody listens, or the deadline.
Result<UniqueFd> DialUnix(const std::string& path, int timeout_ms);

struct HttpRequest {
  std::string method = "GET";
  std::string target = {};  // "/v1.41/info?x=y", already escaped
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Instead of `body`: pieces until an empty one; sent chunked.
  std::function<Result<std::string>()> body_source = {};
  bool upgrade = false;  // asks for a raw stream ("Upgrade: tcp")
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view Header(std::string_view name) const;  // without regard to case; "" = absent
};

// A request that has been sent. The answer is read as the caller asks for it.
class HttpExchange {
 public:
  // Sends the request; every wait on the connection is at most `idle_timeout_ms` (0: for ever). A
  // peer that answers before it has everything is not sent the rest. kUnavailable here and below:
  // the connection broke or the time was up; kCorrupt: the answer is not HTTP.
  static Result<HttpExchange> Send(UniqueFd connection, const std::string& host,
                                   HttpRequest request, int idle_timeout_ms);
  HttpExchange(HttpExchange&&) noexcept;
  HttpExchange& operator=(HttpExchange&&) noexcept;
  ~HttpExchange();

  // Reads the head of the answer.
  Result<HttpResponse> ReadHead();
  // The next piece of the body as it comes; empty at its end. Limits: a head of 64 KiB.
  Result<std::string> ReadSome();
  // The same without waiting: nullopt when it has not come yet. The connection stays readable only
  // when there is more to take.
  Result<std::optional<HttpResponse>> TryReadHead();
  Result<std::optional<std::string>> TryReadSome();
  // The rest of the body, at most `limit` bytes of it (more is kInvalid).
  Result<std::string> ReadAll(size_t limit);
  // After a head that says 101 (or 200 to a request for an upgrade): the connection, which blocks,
  // and what was read beyond the head.
  std::pair<UniqueFd, std::string> Release();
  // For polling; readable when there is something of the answer.
  int fd() const;
  void SetIdleTimeout(int timeout_ms);

 private:
  struct State;
  explicit HttpExchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "a b" → "a%20b", for a part of a path or a query.
std::string EscapeUrl(std::string_view text);

}  // namespace tenon::net

#endif  // TENON_NET_HTTP_CLIENT_H_
