// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/script_run.h"

#include <signal.h>

#include <algorithm>

#include "base/text.h"

namespace tenon::runner {
namespace {

// How long the script's helpers may outlive it before they count as left behind.
constexpr int64_t kSettleUs = 1'000'000;
constexpr int64_t kRetryKillUs = 5'000'000;
constexpr int64_t kFirstLookUs = 2'000;
constexpr int64_t kLookUs = 50'000;

}  // namespace

ScriptRun::ScriptRun(PollLoop& loop, Recorder& recorder, Syncer& syncer, executor::Script& script,
                     int64_t leftover_grace_us, OnOver on_over, const Clock& clock)
    : loop_(loop),
      recorder_(recorder),
      syncer_(syncer),
      script_(script),
      leftover_grace_us_(leftover_grace_us),
      on_over_(std::move(on_over)),
      clock_(clock) {}

ScriptRun::~ScriptRun() {
  if (watched_fd_ >= 0) loop_.RemoveFd(watched_fd_);
  loop_.RemoveTimer(grace_timer_);
  loop_.RemoveTimer(look_timer_);
}

Result<Streams> ScriptRun::OpenRecording(const std::string& metrics) {
  if (auto opened = MetricPump::Open(metrics, loop_, recorder_, syncer_); opened.ok()) {
    metrics_ = std::move(*opened);
  } else {
    recorder_.Append(run::Notice{run::Level::kWarning,
                                 "metrics will not be recorded: " + opened.error().message, ""});
  }
  TENON_TRY(capture_, Capture::Open(loop_, [this](run::Stream stream, std::string_view bytes) {
              recorder_.AppendOutput(stream, bytes);
              syncer_.MarkDirty();
            }));
  start_wall_us_ = clock_.NowUs();
  start_us_ = Now();
  return Streams{capture_->stdout_fd(), capture_->stderr_fd()};
}

Status ScriptRun::Start(const StartScript& start, const std::string& metrics) {
  start_wall_us_ = clock_.NowUs();
  start_us_ = Now();
  auto started = start([&] { return OpenRecording(metrics); });
  if (capture_) capture_->CloseChildEnds();
  if (!started.ok()) return std::move(started).error();
  started_ = true;
  if (*started) recorder_.Append(std::move(**started));
  WatchScript();
  return {};
}

void ScriptRun::Adopt(int64_t start_wall_us) {
  started_ = true;
  start_wall_us_ = start_wall_us;
  // Clocks may jump; a duration is better too short than negative.
  start_us_ = Now() - std::max<int64_t>(0, clock_.NowUs() - start_wall_us);
  WatchScript();
}

// The descriptor may change when the connection to an engine is made anew.
void ScriptRun::WatchScript() {
  int fd = over_ ? -1 : script_.event_fd();
  if (fd == watched_fd_) return;
  if (watched_fd_ >= 0) loop_.RemoveFd(watched_fd_);
  watched_fd_ = fd;
  if (fd >= 0) loop_.AddFd(fd, [this] { Look(); });
}

void ScriptRun::Look() {
  if (!started_ || over_) return;
  auto exit = script_.Reap();
  WatchScript();
  if (exit && !exit_) {
    exit_ = std::move(exit);
    end_us_ = Now();
    if (capture_) capture_->Drain();
    look_pause_us_ = kFirstLookUs;
  }
  if (exit_) LookWhoIsLeft();
}

void ScriptRun::Pump() {
  if (metrics_ && !over_) metrics_->Pump();
}

void ScriptRun::AskToStop(int64_t grace_us) {
  asked_ = true;
  KillAfter(grace_us);
}

void ScriptRun::KillAfter(int64_t grace_us) {
  if (over_) return;
  int64_t kill_at = Now() + grace_us;
  if (!kill_at_us_ && grace_us > 0) script_.Signal(SIGTERM);
  if (kill_at_us_ && *kill_at_us_ <= kill_at) return;
  kill_at_us_ = kill_at;
  loop_.RemoveTimer(grace_timer_);
  grace_timer_ = loop_.AddTimer(grace_us, [this] { OnGraceOver(); });
}

void ScriptRun::OnGraceOver() {
  if (over_) return;
  if (exit_) return Finish();
  run::Proof proof = script_.EndAll(/*thorough=*/false);
  // The script's exit and the rest of its output are still to be read. A process that hangs in the
  // kernel may take several tries.
  if (proof.left > 0) grace_timer_ = loop_.AddTimer(kRetryKillUs, [this] { OnGraceOver(); });
  Look();
}

void ScriptRun::LookWhoIsLeft() {
  loop_.RemoveTimer(look_timer_);
  (void)script_.Reap();
  int64_t left = script_.CountLeft();
  if (left == 0) return Finish();
  if (!asked_leftovers_ && Now() - end_us_ >= kSettleUs) {
    asked_leftovers_ = true;
    if (!asked_) {
      leftovers_ = left;
      KillAfter(leftover_grace_us_);
    }
  }
  look_timer_ = loop_.AddTimer(look_pause_us_, [this] { Look(); });
  look_pause_us_ = std::min(look_pause_us_ * 2, kLookUs);
}

void ScriptRun::Finish() {
  over_ = true;
  loop_.RemoveTimer(grace_timer_);
  loop_.RemoveTimer(look_timer_);
  WatchScript();
  Over over;
  over.proof = script_.EndAll(/*thorough=*/asked_ || leftovers_ > 0);
  (void)script_.Reap();
  if (capture_) {
    capture_->Drain();
    recorder_.FlushOutput(run::Stream::kStdout);
    recorder_.FlushOutput(run::Stream::kStderr);
  }
  over.metrics_complete = !metrics_ || metrics_->Finish();
  // Takes both out of the loop, which may go on with other work.
  capture_.reset();
  metrics_.reset();
  over.exit = *exit_;
  if (!over.exit.told) {
    if (over.exit.start_us == 0) over.exit.start_us = start_wall_us_;
    over.exit.duration_us = end_us_ - start_us_;
    over.exit.leftovers = leftovers_;
  }
  on_over_(std::move(over));
}

}  // namespace tenon::runner
