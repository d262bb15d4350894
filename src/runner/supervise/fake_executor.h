// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_FAKE_EXECUTOR_H_
#define TENON_RUNNER_SUPERVISE_FAKE_EXECUTOR_H_

#include <string>
#include <utility>
#include <vector>

#include "executor/fake_script.h"
#include "runner/supervise/executor.h"

namespace tenon::runner {

// For tests: the script is a FakeScript (executor/fake_script.h). Prepares nothing. Enter() runs
// nothing and returns 0.
class FakeExecutor : public Executor {
 public:
  FakeExecutor(const StartRequest& request, executor::FakeScript::Plan plan)
      : argv_({"sh", request.spec.script}), script_(std::move(plan)) {
    argv_.insert(argv_.end(), request.spec.arguments.begin(), request.spec.arguments.end());
  }

  Status PrepareEnvironment(Handover&, const std::atomic<bool>&) override { return {}; }
  Status Prepare(Handover&, const std::atomic<bool>&) override { return {}; }
  Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open, const Tell&) override {
    TENON_TRY(const Streams streams, open());
    executor::ProcessRequest request;
    request.argv = argv_;
    request.stdout_fd = streams.stdout_fd;
    request.stderr_fd = streams.stderr_fd;
    TENON_TRY(const pid_t pid, script_.Start(request));
    return std::optional(executor::StartedAs(pid, argv_));
  }
  executor::FakeScript& script() override { return script_; }
  Result<int> Enter(Door, std::vector<std::string>) override { return 0; }
  bool FetchMetrics(Recorder&, SafeNames&) override { return true; }

 private:
  std::vector<std::string> argv_;
  executor::FakeScript script_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_FAKE_EXECUTOR_H_
