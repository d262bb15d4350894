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

// The most time that processes left behind by a script get between SIGTERM and SIGKILL.
inline constexpr int64_t kLeftoverGraceUs = 5'000'000;

// Looks after one script, from its start until none of its processes is left: records its output
// and metrics, reads its exit, ends what it leaves behind. A supervisor on a host has a ScriptRun,
// and so has the init in a container. A script with a recorder of its own does not open streams;
// its recorder then records output and metrics, not this object.
//
//   Start ──► runs ──► has exited ──► over
//                          └ processes are left: they get time to end, then SIGTERM, then SIGKILL
class ScriptRun {
 public:
  struct Over {
    executor::Exit exit;  // seen here, or told by the script's own recorder
    run::Proof proof;
    bool metrics_complete = true;
  };
  using OnOver = std::function<void(Over)>;

  using StartScript =
      std::function<Result<std::optional<run::ScriptStarted>>(const OpenStreams& open)>;

  // All references must outlive this object. `leftover_grace_us`: the time between SIGTERM and
  // SIGKILL for processes that the script left behind. `on_over` is called once, from the loop or
  // from Look().
  ScriptRun(PollLoop& loop, Recorder& recorder, Syncer& syncer, executor::Script& script,
            int64_t leftover_grace_us, OnOver on_over, const Clock& clock);
  ~ScriptRun();

  // Calls `start` to start the script, and records the start. On an Error nothing runs. `metrics`:
  // the folder of the script's metric files.
  Status Start(const StartScript& start, const std::string& metrics);
  // Takes over a script that another runner started at `start_wall_us`.
  void Adopt(int64_t start_wall_us);

  // Looks whether the script or its processes have ended. To be called on SIGCHLD, when the
  // script's descriptor is readable, and now and then. Repeats are harmless.
  void Look();
  void Pump();  // records the metrics that are there

  // Sends SIGTERM now and SIGKILL after the grace; with a grace of 0 only SIGKILL. A repeat sends
  // no second SIGTERM, but may shorten the grace. Processes that remain after such a request do not
  // count as left behind.
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
