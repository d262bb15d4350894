// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_EXECUTOR_H_
#define TENON_RUNNER_SUPERVISE_EXECUTOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "executor/script.h"
#include "run/event.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/handover.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/supervise/sampling.h"
#include "runner/supervise/streams.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Records an event of the run at once.
using Tell = std::function<void(run::Event)>;

// How a client enters a run: with a command, with a command on a terminal, or through a port.
enum class Door { kPlain, kTty, kPort };

// Outputs that could not be copied into the run's folder.
struct KeptOutputs {
  std::string where;  // "the container tenon-proj_1"
  Error why;
};

// Carries out a run in one way, for example as a process or in a container. One object per run.
// It is responsible for the run from the moment the project's files are unpacked until nothing of
// the run is left anywhere. Callers never ask which kind of executor they have.
//
//   Prepare ──► Start ──┐
//               Adopt ──┴─► script() ──► FetchMetrics, FetchOutputs ──► Release
//
// Only one thread may call it at a time. Prepare and PrepareEnvironment may be called on another
// thread than the rest.
class Executor {
 public:
  virtual ~Executor() = default;

  // Makes what the script needs and later runs can use again. Reports what happens through
  // `handover`. May be repeated. Error messages are for people. When `stop` is set, returns soon,
  // with success or any error.
  virtual Status PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) = 0;
  // Does what PrepareEnvironment does, and makes everything else that must exist before the script
  // can start. The project's files are already in work/.
  virtual Status Prepare(Handover& handover, const std::atomic<bool>& stop) = 0;

  // Starts the prepared script. Returns the ScriptStarted record for the caller to append; nullopt
  // if the script has a recorder of its own, which writes that record. On an Error nothing runs.
  virtual Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open,
                                                          const Tell& tell) = 0;
  // Whether a script that an earlier runner started goes on without that runner. If so, Adopt()
  // takes the script over, using what is on record, and returns its start time (wall clock; 0: not
  // known yet).
  virtual bool OutlivesRunner() const { return false; }
  virtual int64_t Adopt() { return 0; }
  // Always returns the same object, which this executor owns.
  virtual executor::Script& script() = 0;

  // The samplers to run beside the script, from its start to its end. Called once the script has
  // started.
  virtual std::vector<Sampler> Samplers() const { return {}; }

  // Runs `command`, or a shell if it is empty, where the script runs or ran. kPort: connects our
  // standard streams to the port that `command` names. Returns the exit code.
  virtual Result<int> Enter(Door door, std::vector<std::string> command) = 0;

  // After the script has ended: records the metrics that are not on record yet. False: not all
  // could be recorded; the metric files have to stay.
  virtual bool FetchMetrics(Recorder& recorder, SafeNames& names) = 0;
  // Copies the outputs into the run's folder, if they are elsewhere. Returns what could not be
  // copied; nullopt: nothing is missing.
  virtual std::optional<KeptOutputs> FetchOutputs(Recorder& /*recorder*/) { return std::nullopt; }

  // Removes what is left of the run outside its folder, for example its container. Also for a run
  // that was never started or whose runner is gone. Does not remove the only copy of outputs, nor
  // what the user asked to keep for a look. False: what stays uses the run's folders, so they must
  // stay too. May be repeated.
  virtual bool Release(const Tell& /*tell*/) { return true; }
};

// Makes the executor that a spec asks for. `facts` is what is on record about the run. kInvalid for
// a kind of executor that this version does not have.
Result<std::unique_ptr<Executor>> MakeExecutor(const StartRequest& request, const Facts& facts);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_EXECUTOR_H_
