// SPDX-License-Identifier: Apache-2.0
// What follow.h does while nothing comes: how long it waits, and what it says.
#ifndef TENON_ENGINE_RUN_PATIENCE_H_
#define TENON_ENGINE_RUN_PATIENCE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/feed/run_feed.h"
#include "engine/reporter.h"

namespace tenon::engine {

// Retries while the link to another machine comes and goes: reports the link's state, and pauses
// twice as long each time.
class Patience {
 public:
  Patience(const Context& context, Reporter& reporter)
      : context_(context), reporter_(reporter), heard_us_(Now()) {}

  // The link stands; nothing has come over it for `silent_us`.
  void Heard(int64_t silent_us) {
    if (silent_us >= kSilenceShownUs) {
      told_ = true;
      return reporter_.OnLink(silent_us, "");
    }
    // If nothing has come since the link broke, it may break again at once, so the pause stays as
    // it is.
    if (Now() - silent_us < broken_us_) return;
    heard_us_ = Now();
    if (told_) reporter_.OnLink(0, "");
    told_ = false;
    pause_us_ = kFirstPauseUs;
  }
  // The link broke. Begins a pause before the next try.
  void Broken(const Error& error) {
    told_ = true;
    broken_us_ = Now();
    reporter_.OnLink(Now() - heard_us_, error.message);
    PauseFor(pause_us_);
    pause_us_ = std::min(pause_us_ * 2, kLongestPauseUs);
  }
  // Uses the system clock, even if the context has a test clock: the pauses are real.
  void PauseFor(int64_t us) { until_us_ = SystemClock().MonotonicUs() + us; }
  // When the pause ends.
  int64_t until_us() const { return until_us_; }

 private:
  static constexpr int64_t kFirstPauseUs = 50'000, kLongestPauseUs = 15'000'000;
  static constexpr int64_t kSilenceShownUs = 15'000'000;
  int64_t Now() const { return context_.clock->MonotonicUs(); }

  const Context& context_;
  Reporter& reporter_;
  int64_t heard_us_;
  int64_t broken_us_ = 0;
  int64_t pause_us_ = kFirstPauseUs;
  int64_t until_us_ = 0;
  bool told_ = false;
};

// Reports once when a stopped process keeps records from coming, and once when it goes on.
class StopWatch {
 public:
  StopWatch(const std::string& run_id, Reporter& reporter) : run_id_(run_id), reporter_(reporter) {}
  void Look(const std::optional<RunFeed::Stopped>& stopped) {
    if (stopped == told_) return;
    const bool here = stopped ? stopped->here : told_->here;
    told_ = stopped;
    if (stopped) {
      reporter_.OnStuck(StoppedNotice(run_id_, *stopped));
    } else {
      reporter_.OnStuck({run::Level::kInfo,
                         here ? "the process that copies its journal goes on"
                              : "the runner of " + run_id_ + " goes on",
                         ""});
    }
  }

 private:
  const std::string run_id_;
  Reporter& reporter_;
  std::optional<RunFeed::Stopped> told_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_PATIENCE_H_
