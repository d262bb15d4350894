// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_
#define TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_

#include <string>
#include <vector>

#include "executor/process_script.h"
#include "runner/supervise/executor.h"

namespace tenon::runner {

// The script as a process of this machine, in the environment of its user or in one that we make
// (environment_folder.h). Its output and metrics are recorded by who starts it, and it ends with
// that one.
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
  // What a shell in the run's folder finds: the script's own environment, without its mark, so that
  // what one starts there is not ended with the run.
  Environment ShellEnvironment() const;

  StartRequest request_;
  const Facts facts_;
  const run::RunFolder folder_;
  std::string python_;  // as the spec has it, or that of the environment
  Environment environment_;
  std::vector<std::string> argv_;
  bool recorded_here_ = false;
  executor::ProcessScript script_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_PROCESS_EXECUTOR_H_
