// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_SUPERVISOR_H_
#define TENON_RUNNER_SUPERVISE_SUPERVISOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/poll_loop.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/handover.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/supervise/sampling.h"
#include "runner/supervise/script_run.h"
#include "runner/supervise/syncer.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Carries out one run, from a locked segment to its end. Runs one poll loop. Two other threads pass
// values to it: the syncer, which waits for the disk, and a worker, which prepares the run.
//
//   kPreparing ──► kRunning ──► kDone
//       └── canceled, or not startable ─┘
class Supervisor {
 public:
  // The RunnerStarted and Starting records are already in the segment. All references must outlive
  // this object.
  Supervisor(StartRequest request, Recorder& recorder, Syncer& syncer, PollLoop& loop,
             std::unique_ptr<Executor> executor, const Clock& clock = SystemClock());
  ~Supervisor();

  // Runs the loop until the end is recorded and on disk, then cleans the run folder.
  void Run();
  // As Run(), for a run whose runner is gone but whose script goes on: follows it to its end.
  void RunAdopted(const Facts& facts);

  // Handles a signal to this program. To be called by the loop.
  void OnSignal(int signal);

 private:
  enum class Phase { kPreparing, kRunning, kDone };
  enum class Stop { kNo, kCancel, kTimeout };

  // Steps, in order.
  void BeginPreparing();
  void OnHandover();
  void RecordHandedOver();
  void OnPrepared(const Status& prepared);
  void StartScript();
  void StartSamplers();
  void OnScriptOver(const ScriptRun::Over& over);
  void FinishUnstarted(run::State state, int exit_code, std::string reason, std::string cause = "");
  run::Proof EndWhatPreparingLeft();
  // Far segments other than the one this object writes.
  int64_t CountOtherSegments() const;
  std::string TakeOutputs();
  void CleanUp(bool success, bool keep_files);

  // Asked to stop.
  void LookForCancelRequest();
  void RequestCancel(std::optional<int64_t> grace_us, const std::string& reason);
  void OnTimeout();

  void Tick();
  void Tell(run::Event event);
  void Notice(run::Level level, std::string text, std::string hint = "");
  run::End MakeEnd(const ScriptRun::Over& over) const;

  StartRequest request_;
  run::RunFolder folder_;
  Recorder& recorder_;
  Syncer& syncer_;
  PollLoop& loop_;
  std::unique_ptr<Executor> executor_;
  const Clock& clock_;
  SafeNames names_;

  Phase phase_ = Phase::kPreparing;
  Stop stop_ = Stop::kNo;
  std::string stop_reason_;
  PollLoop::TimerId timeout_timer_ = 0;

  std::thread worker_;
  std::atomic<bool> stop_preparing_{false};
  Handover handover_;  // from the worker
  Status prepared_;    // only the worker uses it until it is done
  std::atomic<bool> worker_done_{false};

  std::unique_ptr<ScriptRun> script_;
  std::vector<std::unique_ptr<Sampling>> samplings_;
};

// "killed by signal 9 (Killed)"
std::string SignalReason(int signal);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SUPERVISOR_H_
