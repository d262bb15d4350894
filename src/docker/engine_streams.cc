// SPDX-License-Identifier: Apache-2.0
#include "docker/call.h"
#include "docker/engine.h"

namespace tenon::docker {
namespace {

std::string PathOf(const std::string& container, std::string_view verb) {
  return "/containers/" + net::EscapeUrl(container) + std::string(verb);
}

class HttpWaiting final : public Waiting {
 public:
  HttpWaiting(net::HttpExchange exchange, std::string container)
      : exchange_(std::move(exchange)), container_(std::move(container)) {}

  int fd() const override { return exchange_.fd(); }

  Result<std::optional<int>> Poll() override {
    auto ended = TakeWhatCame();
    if (!ended.ok()) return Wrapped(std::move(ended).error());
    if (!*ended) return std::optional<int>();
    if (reply_.status >= 400) return Wrapped(EngineError(reply_));
    auto answer = ParseObject(reply_.body);
    if (!answer.ok() || !answer->contains("StatusCode")) {
      return Wrapped(Unavailable("the container engine went away"));
    }
    if (const json::Object* error = json::GetObject(*answer, "Error")) {
      const std::string words = json::GetString(*error, "Message");
      if (!words.empty()) return Wrapped(Unavailable(words));
    }
    return std::optional(static_cast<int>(json::GetInt(*answer, "StatusCode")));
  }

 private:
  static constexpr size_t kLimit = 1 << 20;

  Error Wrapped(Error error) const {
    return std::move(error).Wrap("waiting for the container " + container_);
  }

  // True when the answer is complete.
  Result<bool> TakeWhatCame() {
    if (ended_) return true;
    if (reply_.status == 0) {
      TENON_TRY(const auto head, exchange_.TryReadHead());
      if (!head) return false;
      reply_.status = head->status;
    }
    for (;;) {
      TENON_TRY(const auto piece, exchange_.TryReadSome());
      if (!piece) return false;
      if (piece->empty()) return ended_ = true;
      reply_.body += *piece;
      if (reply_.body.size() > kLimit) return Corrupt("an answer without an end");
    }
  }

  net::HttpExchange exchange_;
  std::string container_;
  Reply reply_;
  bool ended_ = false;
};

Result<Stream> OpenStream(const std::string& socket, const std::string& api, const Call& call) {
  TENON_TRY(Answer answer, Ask(socket, api, call));
  if (answer.head.status == 101 || answer.head.status == 200) {
    auto [fd, buffered] = answer.exchange.Release();
    return Stream{std::move(fd), std::move(buffered)};
  }
  TENON_TRY(const Reply reply, ReadReply(std::move(answer)));
  if (reply.ok()) {
    return Corrupt("the container engine answered " + std::to_string(reply.status) +
                   " to a request for a stream");
  }
  return EngineError(reply);
}

}  // namespace

Result<std::unique_ptr<Waiting>> Engine::Wait(const std::string& container) {
  Call call{.method = "POST", .path = PathOf(container, "/wait"), .idle_ms = 0};
  // "next-exit" would miss a container that has ended by now.
  call.query.emplace_back("condition", "not-running");
  auto exchange = Send(socket_, version_.api, call);
  if (!exchange.ok()) {
    return std::move(exchange).error().Wrap("waiting for the container " + container);
  }
  return std::unique_ptr<Waiting>(std::make_unique<HttpWaiting>(*std::move(exchange), container));
}

Result<Stream> Engine::Attach(const std::string& container, bool with_stdin) {
  Call call{.method = "POST", .path = PathOf(container, "/attach"), .upgrade = true};
  call.query = {
      {"stream", "1"}, {"stdin", with_stdin ? "1" : "0"}, {"stdout", "1"}, {"stderr", "1"}};
  auto stream = OpenStream(socket_, version_.api, call);
  if (!stream.ok()) {
    return std::move(stream).error().Wrap("opening the streams of the container " + container);
  }
  return stream;
}

Status Engine::PutArchive(const std::string& container, const std::string& path,
                          const std::function<Result<std::string>()>& body) {
  const std::string doing = "copying into " + path + " of the container " + container;
  Call call{.method = "PUT",
            .path = PathOf(container, "/archive"),
            .archive = body,
            .idle_ms = kSlowCallIdleMs};
  call.query.emplace_back("path", path);
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap(doing);
  if (!reply->ok()) return EngineError(*reply).Wrap(doing);
  return {};
}

Status Engine::GetArchive(const std::string& container, const std::string& path,
                          const std::function<Status(std::string_view)>& sink) {
  const std::string doing = "copying " + path + " out of the container " + container;
  Call call{.path = PathOf(container, "/archive"), .idle_ms = kSlowCallIdleMs};
  call.query.emplace_back("path", path);
  auto answer = Ask(socket_, version_.api, call);
  if (!answer.ok()) return std::move(answer).error().Wrap(doing);
  if (answer->head.status >= 400) {
    auto reply = ReadReply(*std::move(answer));
    if (!reply.ok()) return std::move(reply).error().Wrap(doing);
    return EngineError(*reply).Wrap(doing);
  }
  for (;;) {
    auto piece = answer->exchange.ReadSome();
    if (!piece.ok()) return std::move(piece).error().Wrap(doing);
    if (piece->empty()) return {};
    TENON_TRY_VOID(sink(*piece));
  }
}

Result<std::string> Engine::CreateExec(const std::string& container, const json::Object& config) {
  const std::string doing = "preparing a command in the container " + container;
  const Call call{.method = "POST", .path = PathOf(container, "/exec"), .body = &config};
  auto answer = AskObject(socket_, version_.api, call);
  if (!answer.ok()) return std::move(answer).error().Wrap(doing);
  const std::string id = json::GetString(*answer, "Id");
  if (id.empty()) return Corrupt(doing + ": the container engine gave no id");
  return id;
}

Result<Stream> Engine::StartExec(const std::string& exec, bool tty) {
  json::Object body;
  body["Detach"] = false;
  body["Tty"] = tty;
  const Call call{.method = "POST",
                  .path = "/exec/" + net::EscapeUrl(exec) + "/start",
                  .body = &body,
                  .upgrade = true};
  auto stream = OpenStream(socket_, version_.api, call);
  if (!stream.ok()) return std::move(stream).error().Wrap("starting a command in a container");
  return stream;
}

Status Engine::ResizeExec(const std::string& exec, int rows, int columns) {
  Call call{.method = "POST", .path = "/exec/" + net::EscapeUrl(exec) + "/resize"};
  call.query = {{"h", std::to_string(rows)}, {"w", std::to_string(columns)}};
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("telling a container the terminal's size");
  if (!reply->ok()) return EngineError(*reply).Wrap("telling a container the terminal's size");
  return {};
}

Result<int> Engine::ExecExitCode(const std::string& exec) {
  const std::string doing = "asking how a command in a container ended";
  auto answer =
      AskObject(socket_, version_.api, {.path = "/exec/" + net::EscapeUrl(exec) + "/json"});
  if (!answer.ok()) return std::move(answer).error().Wrap(doing);
  if (json::GetBool(*answer, "Running")) return Unavailable(doing + ": it runs");
  return static_cast<int>(json::GetInt(*answer, "ExitCode"));
}

}  // namespace tenon::docker
