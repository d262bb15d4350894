// SPDX-License-Identifier: Apache-2.0
#include "launch/fake_launch.h"

#include <utility>

#include "run/verbs.h"

namespace tenon::launch {

std::optional<Error> FakeLaunch::TakeError() { return std::exchange(next_error_, std::nullopt); }

Result<run::RunnerStarted> FakeLaunch::Start(const StartRequest& request) {
  if (auto error = TakeError()) return std::move(*error);
  auto found = runs_.find(request.spec.id);
  if (found != runs_.end()) return found->second.handle;
  if (on_start) TENON_TRY_VOID(on_start(request));
  Run run;
  run.handle.process.pid = static_cast<pid_t>(1000 + runs_.size());
  run.handle.process.start_ticks = 1;
  run.handle.process.boot_id = "fake";
  run.handle.host = "fake";
  run.handle.version = request.version;
  run.handle.protocol = run::kProtocol;
  starts.push_back(request);
  return runs_.emplace(request.spec.id, run).first->second.handle;
}

Result<run::State> FakeLaunch::Cancel(const CancelRequest& request) {
  if (auto error = TakeError()) return std::move(*error);
  auto found = runs_.find(request.run_id);
  if (found == runs_.end()) return NotFound("run " + request.run_id + ": never started here");
  cancels.push_back(request);
  Run& run = found->second;
  if (!run::IsFinal(run.state)) {
    run.state = run.runner_gone ? run::State::kCanceled : run::State::kCancelRequested;
  }
  return run.state;
}

Result<Recovered> FakeLaunch::Recover(const std::string& run_id) {
  if (auto error = TakeError()) return std::move(*error);
  auto found = runs_.find(run_id);
  if (found == runs_.end()) return NotFound("run " + run_id + ": never started here");
  Run& run = found->second;
  if (run::IsFinal(run.state) || !run.runner_gone) return Recovered{run.state, false};
  run.state = run::State::kFailed;
  return Recovered{run.state, true};
}

Result<std::vector<std::string>> FakeLaunch::EnterCommand(const std::string& run_id, bool tty,
                                                          const std::vector<std::string>& words) {
  if (auto error = TakeError()) return std::move(*error);
  if (runs_.count(run_id) == 0) return NotFound("run " + run_id + " has not started here");
  std::vector<std::string> argv = {"enter", run_id, tty ? "tty" : "plain"};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

}  // namespace tenon::launch
