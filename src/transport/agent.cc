// SPDX-License-Identifier: Apache-2.0
#include "transport/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/error_json.h"
#include "base/text.h"

namespace tenon::transport {
namespace {

constexpr size_t kWordsKept = 16u << 10;
// How long a process may take to end, and to say why, after its output has ended.
constexpr int64_t kLastWordsUs = 5'000'000;

int64_t Now() { return SystemClock().MonotonicUs(); }

void SetNonBlocking(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

Agent::Agent(PipedProcess process)
    : process_(std::move(process)), reader_(kAgentGreeting), last_heard_us_(Now()) {
  SetNonBlocking(process_.in.get());
  SetNonBlocking(process_.out.get());
  SetNonBlocking(process_.err.get());
}

Result<bool> Agent::WaitFor(bool writing, int64_t deadline_us) {
  for (;;) {
    std::array<pollfd, 3> fds = {{{process_.out.get(), POLLIN, 0},
                                  {process_.err.get(), POLLIN, 0},
                                  {writing ? process_.in.get() : -1, POLLOUT, 0}}};
    const int64_t left = deadline_us - Now();
    const int ready =
        ::poll(fds.data(), fds.size(),
               static_cast<int>(std::clamp<int64_t>((left + 999) / 1000, 0, 1 << 30)));
    if (ready < 0 && errno != EINTR) return FromErrno("waiting for the host", errno);
    if (ready == 0 && left <= 0) return false;
    if (ready <= 0) continue;
    if (fds[1].revents != 0) TakeWords();
    if (fds[0].revents != 0 || fds[2].revents != 0) return true;
  }
}

void Agent::TakeWords() {
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(process_.err.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) process_.err.Reset();
    if (count <= 0) return;
    said_.append(buffer, static_cast<size_t>(count));
    if (said_.size() > kWordsKept) said_.erase(0, said_.size() - kWordsKept);
  }
}

Status Agent::TakeIn() {
  const std::span<char> room = reader_.Room();
  const ssize_t count = ::read(process_.out.get(), room.data(), room.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (count <= 0) return Gone();
  last_heard_us_ = Now();
  reader_.Took(static_cast<size_t>(count));
  return {};
}

// Waits for the end of the process and says why the conversation is over.
Error Agent::Gone() {
  process_.in.Reset();
  const int64_t deadline = Now() + kLastWordsUs;
  while (!ended_ && process_.Going()) {
    if (process_.err.valid()) {
      pollfd words{process_.err.get(), POLLIN, 0};
      if (::poll(&words, 1, 50) > 0) TakeWords();
    }
    ended_ = process_.TakeEnd(&said_);
    if (ended_) {
      if (process_.err.valid()) TakeWords();
    } else if (Now() > deadline) {
      break;
    } else if (!process_.err.valid()) {
      ::poll(nullptr, 0, 10);
    }
  }
  std::string why = "the connection ended";
  if (const std::string words(Trim(said_)); !words.empty()) {
    why += ": " + ForTerminal(words.substr(words.rfind('\n') + 1));
  }
  return Unavailable(std::move(why));
}

Status Agent::Send(const json::Object& head, std::string_view body, int64_t timeout_us) {
  if (body.size() > kMaxFrameBody) {
    return Invalid("a request of " + HumanBytes(body.size()) +
                   " is more than a host takes at once");
  }
  const std::string bytes = EncodeFrame(head, body);
  std::string_view rest = bytes;
  int64_t deadline = Now() + timeout_us;
  while (!rest.empty()) {
    if (!process_.in.valid()) return Unavailable("the connection has ended");
    const ssize_t count = ::write(process_.in.get(), rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<size_t>(count));
      deadline = Now() + timeout_us;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) return Gone();
    TENON_TRY(const bool ready, WaitFor(/*writing=*/true, deadline));
    if (!ready) return Unavailable("the host takes nothing in");
    TENON_TRY_VOID(TakeIn());
  }
  return {};
}

Result<std::optional<Frame>> Agent::Receive(int64_t timeout_us) {
  const int64_t deadline = Now() + timeout_us;
  for (;;) {
    TENON_TRY(auto frame, reader_.Next());
    if (frame) return frame;
    if (!process_.out.valid() || ended_) {
      return Unavailable("the connection has ended");
    }
    TENON_TRY(const bool ready, WaitFor(/*writing=*/false, deadline));
    if (!ready) return std::optional<Frame>();
    TENON_TRY_VOID(TakeIn());
  }
}

Error AnswerError(const json::Object& answer) {
  const json::Object* error = json::GetObject(answer, "error");
  if (error == nullptr) return Internal("the host's answer says neither yes nor why not");
  return ErrorFromJson(*error);
}

json::Object RunRequest(const std::vector<std::string>& argv, int timeout_ms) {
  json::Array words;
  for (const std::string& word : argv) words.emplace_back(json::EncodeBytes(word));
  return {{"op", "run"}, {"argv", std::move(words)}, {"timeout_ms", timeout_ms}};
}

Result<CaptureResult> ToCaptureResult(const Frame& answer) {
  if (!json::GetBool(answer.head, "ok")) return AnswerError(answer.head);
  CaptureResult result;
  result.status.code = static_cast<int>(json::GetInt(answer.head, "code"));
  result.status.signal = static_cast<int>(json::GetInt(answer.head, "signal"));
  result.timed_out = json::GetBool(answer.head, "timed_out");
  const auto out = static_cast<uint64_t>(json::GetInt(answer.head, "out_bytes"));
  TENON_EXPECT_PEER(out <= answer.body.size(), "the agent's answer names more output than it has");
  result.out = answer.body.substr(0, out);
  result.err = answer.body.substr(out);
  return result;
}

}  // namespace tenon::transport
