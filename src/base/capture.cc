// SPDX-License-Identifier: Apache-2.0
// RunAndCapture: feeds, drains and times one child in a poll loop of its own.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"
#include "base/process.h"

namespace tenon {
namespace {

// Writing to a child that stopped reading raises SIGPIPE, which would end us. The guard blocks
// SIGPIPE for this thread and, if we caused one, takes it off the queue again.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    constexpr timespec kNoWait{};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &kNoWait) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("make a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class Capture {
 public:
  Capture(const std::string& input, int timeout_ms, size_t limit)
      : input_(input), limit_(limit), deadline_us_(-1) {
    if (timeout_ms > 0) deadline_us_ = SystemClock().MonotonicUs() + int64_t{timeout_ms} * 1000;
  }

  Result<CaptureResult> Run(SpawnOptions options) {
    TENON_TRY(Pipe in, MakePipe());
    TENON_TRY(Pipe out, MakePipe());
    TENON_TRY(Pipe err, MakePipe());
    if (!input_.empty()) options.stdin_fd = in.read.get();
    options.stdout_fd = out.write.get();
    options.stderr_fd = err.write.get();
    options.new_session = true;  // so that a timeout also kills the child's own children
    TENON_TRY(pid_, Spawn(options));
    if (!input_.empty()) to_child_ = std::move(in.write);
    ::fcntl(to_child_.get(), F_SETFL, O_NONBLOCK);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    in.read.Reset();
    out.write.Reset();
    err.write.Reset();

    SigpipeGuard guard;
    while ((out_.valid() || err_.valid() || to_child_.valid()) && !result_.timed_out) Round();
    TENON_TRY_VOID(Reap());
    return std::move(result_);
  }

 private:
  int64_t LeftMs() const {
    if (deadline_us_ < 0) return -1;
    return std::max<int64_t>(0, (deadline_us_ - SystemClock().MonotonicUs() + 999) / 1000);
  }

  void KillAll() {
    result_.timed_out = true;
    ::kill(-pid_, SIGKILL);
  }

  void Round() {
    pollfd fds[] = {
        {to_child_.get(), POLLOUT, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
    int64_t left = LeftMs();
    if (left == 0) return KillAll();
    if (::poll(fds, 3, static_cast<int>(std::min<int64_t>(left, 1 << 30))) <= 0) return;
    if (fds[0].revents) Feed();
    if (fds[1].revents) Drain(out_, result_.out);
    if (fds[2].revents) Drain(err_, result_.err);
  }

  void Feed() {
    ssize_t n = ::write(to_child_.get(), input_.data() + fed_, input_.size() - fed_);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) fed_ += static_cast<size_t>(n);
    if (n < 0 || fed_ == input_.size()) to_child_.Reset();
  }

  void Drain(UniqueFd& fd, std::string& into) {
    char buffer[65536];
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) return fd.Reset();
    into.append(buffer, std::min(static_cast<size_t>(n), limit_ - into.size()));
  }

  // The child may live on after closing its output, so the deadline still counts. On old kernels
  // nothing reports the child's end without touching the caller's signals, so we look again and
  // again.
  Status Reap() {
    for (long pause_us = 500;; pause_us = std::min(pause_us * 2, 50'000L)) {
      int status = 0;
      pid_t got = ::waitpid(pid_, &status, deadline_us_ < 0 || result_.timed_out ? 0 : WNOHANG);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FromErrno("wait for process " + std::to_string(pid_), errno);
      if (got == pid_) {
        result_.status = DecodeWaitStatus(status);
        return {};
      }
      if (LeftMs() == 0) {
        KillAll();
        continue;
      }
      timespec pause{0, pause_us * 1000};
      ::nanosleep(&pause, nullptr);
    }
  }

  const std::string& input_;
  size_t limit_;
  int64_t deadline_us_;
  pid_t pid_ = -1;
  UniqueFd to_child_, out_, err_;
  size_t fed_ = 0;
  CaptureResult result_;
};

}  // namespace

Result<CaptureResult> RunAndCapture(const std::vector<std::string>& argv, const std::string& cwd,
                                    const std::string& input, int timeout_ms, size_t limit) {
  SpawnOptions options;
  options.argv = argv;
  options.env = CurrentEnvironment();
  options.cwd = cwd;
  return Capture(input, timeout_ms, limit).Run(std::move(options));
}

}  // namespace tenon
