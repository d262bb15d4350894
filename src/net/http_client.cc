// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cerrno>
#include <cstring>
#include <exception>

namespace tenon::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr uint32_t kHeadLimit = 64 << 10;
constexpr size_t kReadSize = 64 << 10;

bool SameWord(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return lower(x) == lower(y); });
}

// Beast parses; this class keeps what Beast finds.
class Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(bool without_body) {
    header_limit(kHeadLimit);
    body_limit(boost::none);
    skip(without_body);
  }
  HttpResponse head;
  std::string body;  // parsed and not handed out yet

  // Whether put() may be given `size` bytes. Beast 1.81 asserts that it gets at least 5 bytes at
  // the head of the last chunk (fixed in its pull request 2861); any other chunk with its frame has
  // more.
  bool CanTake(size_t size) const {
    return size >= (is_header_done() && chunked() && chunk_left_ == 0 ? 5u : 1u);
  }

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { head.status = code; }
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    // Fields behind a chunked body are not part of the head.
    if (!is_header_done()) head.headers.emplace_back(std::string(name), std::string(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t size, string_view, error_code&) override {
    chunk_left_ = size;
  }
  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code&) override {
    chunk_left_ -= bytes.size();
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  uint64_t chunk_left_ = 0;
};

// Waits for `events` and returns those that came.
Result<short> WaitFor(int fd, short events, int timeout_ms) {
  pollfd item{fd, events, 0};
  for (;;) {
    const int n = ::poll(&item, 1, timeout_ms > 0 ? timeout_ms : -1);
    if (n > 0) return item.revents;
    if (n == 0) {
      return Unavailable("nothing came or went on the connection for " +
                         std::to_string(timeout_ms) + " ms");
    }
    if (errno != EINTR) return FromErrno("waiting for the connection", errno);
  }
}

bool HasControlOrBlank(std::string_view text, bool blanks) {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || (blanks && c == ' ');
  });
}

Result<std::string> PrintHead(const std::string& host, const HttpRequest& request) {
  bool bad = request.method.empty() || !request.target.starts_with('/') ||
             HasControlOrBlank(request.method, true) || HasControlOrBlank(request.target, true) ||
             HasControlOrBlank(host, true);
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (const auto& [name, value] : request.headers) {
    bad = bad || name.empty() || HasControlOrBlank(name, true) || HasControlOrBlank(value, false);
    head += name + ": " + value + "\r\n";
  }
  if (bad) return Invalid("a request with blanks or control characters in its head");
  head += request.upgrade ? "Connection: Upgrade\r\nUpgrade: tcp\r\n" : "Connection: close\r\n";
  if (request.body_source) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return head + "\r\n";
}

std::string Chunk(std::string_view bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  std::string chunk(size);
  chunk.append(bytes);
  return chunk += "\r\n";
}

}  // namespace

std::string_view HttpResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (SameWord(key, name)) return value;
  }
  return "";
}

struct HttpExchange::State {
  UniqueFd fd;
  int idle_timeout_ms = 0;
  bool without_body = false;
  std::unique_ptr<Parser> parser;
  std::string unparsed;  // while the body is read, holds only what the parser can't take yet
  bool ended = false;    // nothing more will come

  Result<bool> SendBytes(std::string_view bytes);
  Status SendBody(HttpRequest& request);
  Result<bool> Receive();
  Status Parse();
};

// Returns false when the peer has answered already or takes no more. Its answer then says why.
Result<bool> HttpExchange::State::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    TENON_TRY(const short events, WaitFor(fd.get(), POLLIN | POLLOUT, idle_timeout_ms));
    if (!(events & POLLOUT)) return false;
    const ssize_t n = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return false;
    } else if (errno != EAGAIN && errno != EINTR) {
      return FromErrno("sending a request", errno);
    }
  }
  return true;
}

Status HttpExchange::State::SendBody(HttpRequest& request) {
  if (!request.body_source) {
    TENON_TRY([[maybe_unused]] const bool sent, SendBytes(request.body));
    return {};
  }
  for (;;) {
    TENON_TRY(const std::string piece, request.body_source());
    TENON_TRY(const bool wanted, SendBytes(Chunk(piece)));  // the empty one ends the body
    if (piece.empty() || !wanted) return {};
  }
}

// Reads once. Returns false when nothing has come yet; true at the end, too, which sets `ended`.
Result<bool> HttpExchange::State::Receive() {
  const size_t before = unparsed.size();
  unparsed.resize(before + kReadSize);
  ssize_t n;
  do {
    n = ::recv(fd.get(), unparsed.data() + before, kReadSize, MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  const int error = errno;
  unparsed.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n > 0) return true;
  if (n < 0 && error == EAGAIN) return false;
  if (n < 0 && error != ECONNRESET) return FromErrno("reading an answer", error);
  ended = true;
  return true;
}

// Gives the parser all that it can take: the head and nothing behind it, or any piece of the body.
Status HttpExchange::State::Parse() {
  try {
    error_code error;
    while (!parser->is_done() && parser->CanTake(unparsed.size())) {
      const bool in_head = !parser->is_header_done();
      const size_t taken =
          parser->put(boost::asio::const_buffer(unparsed.data(), unparsed.size()), error);
      unparsed.erase(0, taken);
      if (error == http::error::need_more) error = {};
      if (error) return Corrupt("the answer is not HTTP: " + error.message());
      if (taken == 0 && unparsed.size() > kHeadLimit) {
        return Corrupt("the answer is not HTTP: a line without an end");
      }
      if (taken == 0 || (in_head && parser->is_header_done())) break;
    }
    if (!ended || parser->is_done()) return {};
    if (!parser->is_header_done()) {
      return Unavailable(parser->got_some() || !unparsed.empty()
                             ? "the connection was cut in the head of the answer"
                             : "the connection was closed without an answer");
    }
    // The caller has asked for the head only; the rest of the body may be in `unparsed`.
    if (!unparsed.empty() && parser->eager() == false) return {};
    parser->put_eof(error);
    if (error) return Unavailable("the connection was cut in the middle of the answer");
    return {};
  } catch (const std::exception& e) {
    return Corrupt(std::string("the answer is not HTTP: ") + e.what());
  }
}

HttpExchange::HttpExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpExchange::HttpExchange(HttpExchange&&) noexcept = default;
HttpExchange& HttpExchange::operator=(HttpExchange&&) noexcept = default;
HttpExchange::~HttpExchange() = default;

Result<HttpExchange> HttpExchange::Send(UniqueFd connection, const std::string& host,
                                        HttpRequest request, int idle_timeout_ms) {
  auto state = std::make_unique<State>();
  state->fd = std::move(connection);
  state->idle_timeout_ms = idle_timeout_ms;
  state->without_body = request.method == "HEAD";
  state->parser = std::make_unique<Parser>(state->without_body);
  TENON_TRY(const std::string head, PrintHead(host, request));
  TENON_TRY(const bool wanted, state->SendBytes(head));
  if (wanted) TENON_TRY_VOID(state->SendBody(request));
  return HttpExchange(std::move(state));
}

Result<std::optional<HttpResponse>> HttpExchange::TryReadHead() {
  for (;;) {
    TENON_TRY_VOID(state_->Parse());
    if (state_->parser->is_header_done()) {
      const int status = state_->parser->head.status;
      if (status >= 200 || status == 101) return std::optional(state_->parser->head);
      state_->parser = std::make_unique<Parser>(state_->without_body);  // skips "100 Continue"
      continue;
    }
    TENON_TRY(const bool came, state_->Receive());
    if (!came) return std::optional<HttpResponse>();
  }
}

Result<std::optional<std::string>> HttpExchange::TryReadSome() {
  TENON_CHECK(state_->parser->is_header_done());
  Parser& parser = *state_->parser;
  parser.eager(true);
  for (;;) {
    TENON_TRY_VOID(state_->Parse());
    if (!parser.body.empty() || parser.is_done()) {
      return std::optional(std::exchange(parser.body, {}));
    }
    TENON_TRY(const bool came, state_->Receive());
    if (!came) return std::optional<std::string>();
  }
}

Result<HttpResponse> HttpExchange::ReadHead() {
  for (;;) {
    TENON_TRY(auto head, TryReadHead());
    if (head) return *std::move(head);
    TENON_TRY([[maybe_unused]] const short events, WaitFor(fd(), POLLIN, state_->idle_timeout_ms));
  }
}

Result<std::string> HttpExchange::ReadSome() {
  for (;;) {
    TENON_TRY(auto piece, TryReadSome());
    if (piece) return *std::move(piece);
    TENON_TRY([[maybe_unused]] const short events, WaitFor(fd(), POLLIN, state_->idle_timeout_ms));
  }
}

Result<std::string> HttpExchange::ReadAll(size_t limit) {
  std::string body;
  for (;;) {
    TENON_TRY(const std::string piece, ReadSome());
    if (piece.empty()) return body;
    if (piece.size() > limit - body.size()) {
      return Invalid("an answer of more than " + std::to_string(limit) + " bytes");
    }
    body += piece;
  }
}

std::pair<UniqueFd, std::string> HttpExchange::Release() {
  TENON_CHECK(state_->parser->is_header_done());
  return {std::move(state_->fd), std::exchange(state_->unparsed, {})};
}

int HttpExchange::fd() const { return state_->fd.get(); }
void HttpExchange::SetIdleTimeout(int timeout_ms) { state_->idle_timeout_ms = timeout_ms; }

std::string EscapeUrl(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

}  // namespace tenon::net
