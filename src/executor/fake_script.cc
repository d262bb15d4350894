// SPDX-License-Identifier: Apache-2.0
#include "executor/fake_script.h"

#include <signal.h>

#include <algorithm>

#include "base/file.h"

namespace tenon::executor {

FakeScript::FakeScript(Plan plan, const Clock& clock)
    : plan_(std::move(plan)), clock_(clock), left_(plan_.leaves) {}

Result<pid_t> FakeScript::Start(const ProcessRequest& request) {
  TENON_CHECK(!started_);
  if (plan_.start_error) return *plan_.start_error;
  request_ = request;
  started_ = true;
  start_us_ = clock_.MonotonicUs();
  if (request.stdout_fd >= 0) TENON_TRY_VOID(WriteAll(request.stdout_fd, plan_.to_stdout));
  if (request.stderr_fd >= 0) TENON_TRY_VOID(WriteAll(request.stderr_fd, plan_.to_stderr));
  return pid();
}

bool FakeScript::Running() const {
  if (!started_ || killed_) return false;
  return plan_.runs_us < 0 || clock_.MonotonicUs() - start_us_ < plan_.runs_us;
}

void FakeScript::Signal(int signal) {
  if (!started_) return;
  signals_.push_back(signal);
  bool kill = signal == SIGKILL;
  if (Running() && (kill || (signal == SIGTERM && !plan_.ignores_term))) {
    killed_ = ExitStatus{0, signal};
    ++ended_;
  }
  if (kill || (signal == SIGTERM && !plan_.they_ignore_term)) {
    ended_ += left_ - std::min(left_, plan_.unkillable);
    left_ = std::min(left_, plan_.unkillable);
  }
}

std::optional<Exit> FakeScript::Reap() {
  if (!started_ || reaped_ || Running()) return std::nullopt;
  reaped_ = true;
  Exit exit;
  exit.status = killed_.value_or(plan_.status);
  exit.peak_rss_bytes = 1 << 20;
  return exit;
}

int64_t FakeScript::CountLeft() {
  if (!started_) return 0;
  return left_ + (Running() ? 1 : 0);
}

run::Proof FakeScript::EndAll(bool /*thorough*/) {
  if (CountLeft() > 0) Signal(SIGKILL);
  run::Proof proof;
  proof.method = "scan";
  proof.ended = ended_;
  proof.left = CountLeft();
  return proof;
}

}  // namespace tenon::executor
