// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/tool_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/mask.h"

namespace tenon::runner {
namespace {

constexpr size_t kTail = 64 * 1024;
constexpr int kLookMs = 100;  // how soon a stop or an end is noticed
constexpr int64_t kGraceUs = 2'000'000;

class ToolProcess {
 public:
  ToolProcess(const ToolRun& tool, const std::atomic<bool>& stop)
      : tool_(tool), stop_(stop), masker_(tool.masked) {}

  Result<ToolEnd> Run() {
    TENON_TRY_VOID(Start());
    while (!Ended()) {
      Listen();
      Look();
    }
    // The leader is not reaped yet, so its process group cannot have been given to another process.
    ::kill(-pid_, SIGKILL);
    TENON_TRY(end_.status, Wait(pid_));
    DrainRest();
    Tell(masker_.Flush());
    if (stop_) return Unavailable("stopped");
    return std::move(end_);
  }

 private:
  Status Start() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("make a pipe", errno);
    out_ = UniqueFd(ends[0]);
    UniqueFd write(ends[1]);
    ::fcntl(out_.get(), F_SETFL, O_NONBLOCK);
    SpawnOptions options;
    options.argv = tool_.argv;
    options.env = tool_.env;
    options.cwd = tool_.cwd;
    options.stdout_fd = write.get();
    options.stderr_fd = write.get();
    options.new_session = true;
    options.in_child = [] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); };
    TENON_TRY(pid_, Spawn(options));
    if (tool_.timeout_ms > 0) deadline_us_ = Now() + int64_t{tool_.timeout_ms} * 1000;
    return {};
  }

  static int64_t Now() { return SystemClock().MonotonicUs(); }

  bool Ended() const {
    siginfo_t info = {};
    int got = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
    return got == 0 && info.si_pid == pid_;
  }

  // After the output has ended, only the timeout wakes this thread; tools usually exit right after
  // it.
  void Listen() {
    pollfd fd = {out_.get(), POLLIN, 0};
    int wait_ms = out_.valid() ? kLookMs : 5;
    if (::poll(&fd, 1, wait_ms) <= 0 || fd.revents == 0) return;
    if (!Drain()) out_.Reset();
  }

  // Reads one piece; false at the end of the output.
  bool Drain() {
    char buffer[65536];
    ssize_t n = ::read(out_.get(), buffer, sizeof buffer);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    Tell(masker_.Feed({buffer, static_cast<size_t>(n)}));
    return true;
  }

  // Reads what the pipe still holds. Never waits: a process that left the group may keep the pipe
  // open.
  void DrainRest() {
    for (int i = 0; i < 64 && out_.valid(); ++i) {
      pollfd fd = {out_.get(), POLLIN, 0};
      if (::poll(&fd, 1, 0) <= 0 || (fd.revents & POLLIN) == 0 || !Drain()) out_.Reset();
    }
  }

  void Look() {
    bool late = deadline_us_ > 0 && Now() > deadline_us_;
    if (late) end_.timed_out = true;
    if (!stop_ && !late) return;
    if (asked_us_ == 0) {
      asked_us_ = Now();
      ::kill(-pid_, SIGTERM);
    } else if (Now() - asked_us_ > kGraceUs) {
      ::kill(-pid_, SIGKILL);
    }
  }

  void Tell(const std::string& bytes) {
    if (bytes.empty()) return;
    end_.tail += bytes;
    if (end_.tail.size() > 2 * kTail) end_.tail.erase(0, end_.tail.size() - kTail);
    if (tool_.on_output) tool_.on_output(bytes);
  }

  const ToolRun& tool_;
  const std::atomic<bool>& stop_;
  Masker masker_;
  pid_t pid_ = -1;
  UniqueFd out_;
  int64_t deadline_us_ = 0;
  int64_t asked_us_ = 0;
  ToolEnd end_;
};

}  // namespace

std::string ToolEnd::How() const {
  if (timed_out) return "it took too long";
  if (status.signal != 0) return "signal " + std::to_string(status.signal);
  return "exit code " + std::to_string(status.code);
}

Result<ToolEnd> RunTool(const ToolRun& tool, const std::atomic<bool>& stop) {
  if (stop) return Unavailable("stopped");
  return ToolProcess(tool, stop).Run();
}

}  // namespace tenon::runner
