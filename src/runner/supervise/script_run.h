// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_SCRIPT_RUN_H_
#define TENON_RUNNER_SUPERVISE_SCRIPT_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/poll_loop.h"
#include "executor/script.h"
#include "runner/metrics/metric_pump.h"
#include "runner/supervise/capture.h"
#include "runner/supervise/recorder.h"
#include "runner/supervise/streams.h"
#include "runner/supervise/syncer.h"

namespace tenon::runner {

// What processes that a script leaves behind get to go by themselves, at most.
inline constexpr int64_t kLeftoverGraceUs = 5'000'000;

// One script, from its start until nobody of it is left: its output, its metrics, its exit, what it
// leaves behind. A supervisor on a host has one, and so has the init in a container. A script with
// a recorder of its own does not ask for streams; output and metrics are then that one's affair.
//
//   Start ──► runs ──► has exited ──► over
//                          └ processes are left: they get time to go, a SIGTERM, in the end SIGKILL
class ScriptRun {
 public:
  struct Over {
    executor::Exit exit;  // whoever has told it
    run::Proof proof;
    bool metrics_complete = true;
  };
  using OnOver = std::function<void(Over)>;

  using StartScript =
      std::function<Result<std::optional<run::ScriptStarted>>(const OpenStreams& open)>;

  // All must outlive this object. `leftover_grace_us`: between asking processes that were left
  // behind and killing them. `on_over` is called once, from the loop.
  ScriptRun(PollLoop& loop, Recorder& recorder, Syncer& syncer, executor::Script& script,
            int64_t leftover_grace_us, OnOver on_over, const Clock& clock);
  ~ScriptRun();

  // Has `start` start the script, and records that; an Error means that nothing runs. `metrics`:
  // the folder of its metric files.
  Status Start(const StartScript& start, const std::string& metrics);
  // Takes over a script that another runner has started at `start_wall_us`.
  void Adopt(int64_t start_wall_us);

  // Something may have ended: SIGCHLD, the script's descriptor, a tick. Repeats are harmless.
  void Look();
  void Pump();  // takes the metrics that are there

  // SIGTERM now, SIGKILL after the grace. Repeated: no second SIGTERM, but the grace may become
  // shorter. What is left of a script that was asked is no "left behind".
  void AskToStop(int64_t grace_us);

  bool has_exited() const { return exit_.has_value(); }

 private:
  void LookWhoIsLeft();
  void OnGraceOver();
  void KillAfter(int64_t grace_us);
  void Finish();
  Result<Streams> OpenRecording(const std::string& metrics);
  void WatchScript();
  int64_t Now() const { return clock_.MonotonicUs(); }

  PollLoop& loop_;
  Recorder& recorder_;
  Syncer& syncer_;
  executor::Script& script_;
  int64_t leftover_grace_us_;
  OnOver on_over_;
  const Clock& clock_;

  std::unique_ptr<Capture> capture_;
  std::unique_ptr<MetricPump> metrics_;
  bool started_ = false;
  bool over_ = false;
  bool asked_ = false;
  int watched_fd_ = -1;
  std::optional<executor::Exit> exit_;
  std::optional<int64_t> kill_at_us_;  // monotonic; when the grace is over
  PollLoop::TimerId grace_timer_ = 0;
  PollLoop::TimerId look_timer_ = 0;
  int64_t look_pause_us_ = 0;
  int64_t start_wall_us_ = 0;
  int64_t start_us_ = 0;  // monotonic
  int64_t end_us_ = 0;    // monotonic
  bool asked_leftovers_ = false;
  int64_t leftovers_ = 0;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SCRIPT_RUN_H_
