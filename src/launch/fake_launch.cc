// SPDX-License-Identifier: Apache-2.0
#include "launch/fake_launch.h"

#include <algorithm>
#include <utility>

#include "run/verbs.h"

namespace tenon::launch {

std::optional<Error> FakeLaunch::TakeError() { return std::exchange(next_error_, std::nullopt); }

Result<Started> FakeLaunch::Start(const StartRequest& request) {
  if (auto error = TakeError()) return std::move(*error);
  auto found = runs_.find(request.spec.id);
  if (found != runs_.end()) return found->second.started;
  if (on_start) TENON_TRY_VOID(on_start(request));
  Run run;
  run.started.runner.process.pid = static_cast<pid_t>(1000 + runs_.size());
  run.started.runner.process.start_ticks = 1;
  run.started.runner.process.boot_id = "fake";
  run.started.runner.host = "fake";
  run.started.runner.version = request.version;
  run.started.runner.protocol = run::kProtocol;
  starts.push_back(request);
  return runs_.emplace(request.spec.id, run).first->second.started;
}

Result<run::State> FakeLaunch::Cancel(const run::CancelRequest& request, const run::LaunchHandle&) {
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

Result<run::Recovered> FakeLaunch::Recover(const std::string& run_id, const run::LaunchHandle&) {
  if (auto error = TakeError()) return std::move(*error);
  auto found = runs_.find(run_id);
  if (found == runs_.end()) return NotFound("run " + run_id + ": never started here");
  Run& run = found->second;
  if (run::IsFinal(run.state) || !run.runner_gone) return run::Recovered{run.state, false};
  run.state = run::State::kFailed;
  return run::Recovered{run.state, true};
}

std::optional<run::State> FakeLaunch::StateOf(const std::string& run_id) const {
  const auto found = runs_.find(run_id);
  return found == runs_.end() ? std::nullopt : std::optional(found->second.state);
}

Result<run::EndedLost> FakeServices::EndLost(const run::EndLostRequest& request) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  if (launch_.StateOf(request.run_id)) return Invalid("run " + request.run_id + " is known here");
  lost.push_back(request);
  run::EndedLost ended;
  ended.known = true;
  ended.proof.method = "scan";
  return ended;
}

Result<std::vector<std::string>> FakeServices::EnterCommand(const std::string& run_id, bool tty,
                                                            const std::vector<std::string>& words) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  if (!launch_.StateOf(run_id)) return NotFound("run " + run_id + " has not started here");
  std::vector<std::string> argv = {"enter", run_id, tty ? "tty" : "plain"};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

Result<std::vector<std::string>> FakeServices::PortCommand(const std::string& run_id, int port) {
  return EnterCommand(run_id, false, {"port", std::to_string(port)});
}

Result<run::EnvironmentsAnswer> FakeServices::Environments(
    const run::EnvironmentsRequest& request) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  run::EnvironmentsAnswer answer;
  for (const std::string& key : request.remove) {
    const auto found = std::find_if(environments.begin(), environments.end(),
                                    [&](const auto& one) { return one.record.ready.key == key; });
    if (found != environments.end() && found->in_use) {
      answer.kept.push_back({key, "a run that goes on uses it"});
      continue;
    }
    answer.removed.push_back(key);
    if (found == environments.end()) continue;
    answer.bytes_freed += found->record.ready.bytes;
    if (!request.dry_run) environments.erase(found);
  }
  answer.environments = environments;
  return answer;
}

Result<run::Collected> FakeServices::Collect(const std::string& run_id) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  const auto state = launch_.StateOf(run_id);
  if (!state) return NotFound("run " + run_id + " has not started here");
  if (!run::IsFinal(*state)) return Invalid("run " + run_id + " has not ended");
  return run::Collected{};
}

Result<run::SweepAnswer> FakeServices::Sweep(const run::SweepRequest& request) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  sweeps.push_back(request);
  run::SweepAnswer answer;
  for (const auto& [name, run_id] : containers) {
    const auto state = launch_.StateOf(run_id);
    const bool meant =
        request.all || !state || std::count(request.runs.begin(), request.runs.end(), run_id) > 0;
    if (!meant) continue;
    if (state && !run::IsFinal(*state)) {
      answer.kept.push_back({name, "its run goes on"});
    } else {
      answer.removed.push_back(name);
    }
  }
  if (!request.dry_run) {
    for (const std::string& name : answer.removed) containers.erase(name);
  }
  return answer;
}

Result<json::Object> FakeServices::Probe() {
  if (auto error = launch_.TakeError()) return std::move(*error);
  return facts;
}

Result<run::HostedAnswer> FakeServices::Hosted(const run::HostedRequest& request) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  hosted_requests.push_back(request);
  run::HostedAnswer answer = hosted;
  for (const run::HostedRun& run : hosted.runs) {
    if (std::count(request.remove.begin(), request.remove.end(), run.run_id) == 0) continue;
    if (run.alive) {
      answer.kept.push_back({run.run_id, "it goes on"});
      continue;
    }
    answer.removed.push_back(run.run_id);
    answer.bytes_freed += run.bytes;
    std::erase_if(answer.runs, [&](const run::HostedRun& one) { return one.run_id == run.run_id; });
  }
  if (!request.dry_run) hosted.runs = answer.runs;
  return answer;
}

Result<run::WatchIdleAnswer> FakeServices::WatchIdle(const run::WatchIdleRequest& request) {
  if (auto error = launch_.TakeError()) return std::move(*error);
  if (!request.look) watcher = request.stop ? std::nullopt : std::optional(request);
  return run::WatchIdleAnswer{watcher.has_value(), hosted.idle_since_us, hosted.busy};
}

}  // namespace tenon::launch
