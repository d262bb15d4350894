// SPDX-License-Identifier: Apache-2.0
#include "transport/piped_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace tenon::transport {
namespace {

// How long a process may take to end after SIGTERM; then it gets SIGKILL.
constexpr int64_t kGoodbyeUs = 2'000'000;

int64_t Now() { return SystemClock().MonotonicUs(); }

}  // namespace

PipedProcess::PipedProcess(PipedProcess&& other) noexcept
    : pid(std::exchange(other.pid, 0)),
      session(std::exchange(other.session, std::nullopt)),
      in(std::move(other.in)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      refused(other.refused),
      untold(other.untold) {}

PipedProcess& PipedProcess::operator=(PipedProcess&& other) noexcept {
  if (this != &other) {
    std::swap(pid, other.pid);
    std::swap(session, other.session);
    in = std::move(other.in);
    out = std::move(other.out);
    err = std::move(other.err);
    refused = other.refused;
    untold = other.untold;
  }
  return *this;
}

std::optional<ExitStatus> PipedProcess::TakeEnd(std::string* words) {
  std::optional<ExitStatus> end;
  if (session) {
    end = session->Ended(words);
    if (end) {
      refused = !session->opened();
      untold = session->untold();
      session.reset();
    }
  } else if (pid > 0) {
    int status = 0;
    const pid_t reaped = ::waitpid(pid, &status, WNOHANG);
    if (reaped == pid) end = DecodeWaitStatus(status);
    if (reaped != 0) pid = 0;
  }
  return end;
}

PipedProcess::~PipedProcess() {
  if (pid <= 0) return;
  in.Reset();
  ::kill(pid, SIGTERM);
  for (const int64_t deadline = Now() + kGoodbyeUs; Now() < deadline; ::poll(nullptr, 0, 1)) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
  }
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tenon::transport
