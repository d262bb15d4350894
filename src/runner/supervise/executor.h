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

// Records something of the run at once.
using Tell = std::function<void(run::Event)>;

// How one enters a run from outside.
enum class Door { kPlain, kTty, kPort };

// Outputs that could not be brought into the run's folder.
struct KeptOutputs {
  std::string where;  // "the container tenon-proj_1"
  Error why;
};

// Carries out the runs of one kind: as a process, in a container. One object per run, which it
// owns from the project's unpacked files to the last thing that is left of it anywhere. Callers
// never ask which kind they have.
//
//   Prepare ──► Start ──┐
//               Adopt ──┴─► script() ──► FetchMetrics, FetchOutputs ──► Release
//
// One thread at a time; Prepare and PrepareEnvironment may be called on another than the rest.
class Executor {
 public:
  virtual ~Executor() = default;

  // Makes what the script needs and what stays for later runs. Tells what happens through
  // `handover`. Repeatable. Errors are for people. `stop` set: returns soon, with whatever.
  virtual Status PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) = 0;
  // The same, and all else that has to be there before the script can be started. The project's
  // files lie in work/.
  virtual Status Prepare(Handover& handover, const std::atomic<bool>& stop) = 0;

  // Starts what has been prepared. Returns the record that the script has started, unless the
  // script's own recorder writes it. An Error means that nothing runs.
  virtual Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open,
                                                          const Tell& tell) = 0;
  // Whether what an earlier runner has started goes on without it. Then Adopt() takes it over, by
  // what is on record, and returns when the script was started: wall clock; 0: not known yet.
  virtual bool OutlivesRunner() const { return false; }
  virtual int64_t Adopt() { return 0; }
  // The same object all the time.
  virtual executor::Script& script() = 0;

  // What is measured beside the script, from its start to its end. Asked once it has started.
  virtual std::vector<Sampler> Samplers() const { return {}; }

  // Carries out a command, or a shell, where the script is or was; kPort: our standard streams
  // become a connection to the port that `command` names. Returns the exit code.
  virtual Result<int> Enter(Door door, std::vector<std::string> command) = 0;

  // Takes into `recorder` the metrics of a script that is over as far as nobody else has. False:
  // not all of them; their files have to stay.
  virtual bool FetchMetrics(Recorder& recorder, SafeNames& names) = 0;
  // Brings the outputs into the run's folder. Returns what could not be brought.
  virtual std::optional<KeptOutputs> FetchOutputs(Recorder& /*recorder*/) { return std::nullopt; }

  // Removes what is left of the run elsewhere, also of one that was never started or whose runner
  // is gone. What has to stay stays: the only copy of outputs, what is kept to be looked at. False:
  // what stays uses the folders of the run. Repeatable.
  virtual bool Release(const Tell& /*tell*/) { return true; }
};

// The table from a spec to its executor. `facts`: what is on record of the run. kInvalid for kinds
// that this version does not have.
Result<std::unique_ptr<Executor>> MakeExecutor(const StartRequest& request, const Facts& facts);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_EXECUTOR_H_
