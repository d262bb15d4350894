// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_ENVIRONMENT_BUILD_REPORTER_H_
#define TENON_RUNNER_ENVIRONMENT_BUILD_REPORTER_H_

#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "runner/environment/make_environment.h"
#include "runner/supervise/handover.h"

namespace tenon::runner {

// Lets progress through twice a second.
class ProgressThrottle {
 public:
  bool Due() {
    const int64_t now = SystemClock().MonotonicUs();
    if (next_us_ != 0 && now < next_us_) return false;
    next_us_ = now + 500'000;
    return true;
  }

 private:
  int64_t next_us_ = 0;
};

// Writes steps and progress to the journal, and the tools' output to a file in the run's folder.
class JournalBuildReporter : public BuildReporter {
 public:
  JournalBuildReporter(Handover& handover, const std::string& log_path);
  void OnStep(const run::Step& step) override;
  void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                  uint64_t total) override;
  void OnOutput(std::string_view bytes) override;

 private:
  Handover& handover_;
  UniqueFd log_;
  ProgressThrottle throttle_;
  std::string last_step_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_BUILD_REPORTER_H_
