// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_
#define TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_

#include <string>
#include <vector>

#include "executor/process_script.h"
#include "runner/supervise/executor.h"

namespace tenon::runner {

// Runs the script as a process of this machine, in the user's environment or in one that Tenon
// makes (environment_folder.h). The runner that starts the script records its output and metrics,
// and the script ends with that runner.
class ProcessExecutor : public Executor {
 public:
  ProcessExecutor(StartRequest request, Facts facts);

  Status PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) override;
  Status Prepare(Handover& handover, const std::atomic<bool>& stop) override;
  Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open,
                                                  const Tell& tell) override;
  executor::Script& script() override { return script_; }
  Result<int> Enter(Door door, std::vector<std::string> command) override;
  bool FetchMetrics(Recorder& recorder, SafeNames& names) override;

 private:
  Result<Environment> ScriptEnvironment() const;
  // The environment of a shell in the run's folder: the script's own, but without the run's key, so
  // that what the user starts there is not ended with the run.
  Environment ShellEnvironment() const;

  StartRequest request_;
  const Facts facts_;
  const run::RunFolder folder_;
  std::string python_;  // from the spec, or of the environment that was made
  Environment environment_;
  std::vector<std::string> argv_;
  bool recorded_here_ = false;
  executor::ProcessScript script_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_
