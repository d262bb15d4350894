// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISOR_H_
#define TENON_RUNNER_SUPERVISOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "base/poll_loop.h"
#include "executor/executor.h"
#include "runner/capture.h"
#include "runner/metric_pump.h"
#include "runner/prepare.h"
#include "runner/recorder.h"
#include "runner/request.h"
#include "runner/syncer.h"

namespace tenon::runner {

// Carries out one run, from a locked segment to its end. One poll loop; two helpers hand values
// over to it: the syncer, which waits for the disk, and a worker that unpacks.
//
//   kPreparing ──► kRunning ──► kEnding ──► kDone
//       │              │ nobody left ──────►  ▲
//       └── canceled, or not startable ───────┘
//
// kEnding: the script has exited but processes of the run are left; they get time to go, a SIGTERM,
// and in the end a SIGKILL.
class Supervisor {
 public:
  // `recorder` has the RunnerStarted and Starting records already.
  Supervisor(StartRequest request, Recorder& recorder, Syncer& syncer, PollLoop& loop,
             std::unique_ptr<executor::Executor> executor, const Clock& clock = SystemClock());
  ~Supervisor();

  // Runs the loop until the end is recorded and on disk, then cleans the run folder.
  void Run();

  // Signals of the program, as the loop delivers them.
  void OnSignal(int signal);

 private:
  enum class Phase { kPreparing, kRunning, kEnding, kDone };
  enum class Stop { kNo, kCancel, kTimeout };

  // Steps, in order.
  void BeginPreparing();
  void OnPrepared();
  void StartScript(Prepared prepared);
  void OnScriptExit(const executor::Exit& exit);
  void LookWhoIsLeft();
  void Finish();
  void FinishUnstarted(run::State state, int exit_code, std::string reason);
  void CleanUp(bool success, bool keep_files);

  // Asked to stop.
  void LookForCancelRequest();
  void RequestCancel(std::optional<int64_t> grace_us, const std::string& reason);
  void OnTimeout();
  void AskToStop(int64_t grace_us);
  void OnGraceOver();

  void Tick();
  void Notice(run::Level level, std::string text, std::string hint = "");
  run::End MakeEnd(run::Proof proof) const;
  int64_t Now() const { return clock_.MonotonicUs(); }

  StartRequest request_;
  run::RunFolder folder_;
  Recorder& recorder_;
  Syncer& syncer_;
  PollLoop& loop_;
  std::unique_ptr<executor::Executor> executor_;
  const Clock& clock_;

  Phase phase_ = Phase::kPreparing;
  Stop stop_ = Stop::kNo;
  std::string stop_reason_;
  std::optional<int64_t> kill_at_us_;  // monotonic; when the grace is over
  PollLoop::TimerId grace_timer_ = 0;
  PollLoop::TimerId timeout_timer_ = 0;
  PollLoop::TimerId look_timer_ = 0;
  int64_t look_pause_us_ = 0;

  std::thread worker_;
  UniqueFd worker_done_;
  std::optional<Result<Prepared>> prepared_;  // the worker's, until it is done

  std::unique_ptr<Capture> capture_;
  std::unique_ptr<MetricPump> metrics_;
  std::optional<executor::Exit> exit_;
  int64_t script_start_wall_us_ = 0;
  int64_t script_start_us_ = 0;  // monotonic
  int64_t script_end_us_ = 0;    // monotonic
  bool asked_leftovers_ = false;
  int64_t leftovers_ = 0;
};

// "killed by signal 9 (Killed)"
std::string SignalReason(int signal);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISOR_H_
