// SPDX-License-Identifier: Apache-2.0
#include "launch/runner_services.h"

#include "run/described.h"
#include "run/verbs.h"

namespace tenon::launch {
namespace {

// An engine may take long to remove an image. Adding up the sizes of millions of files takes long,
// too.
constexpr int kNoTimeout = 0;
// A login shell may take ten seconds; an engine and a GPU tool take their time, too.
constexpr int kProbeTimeoutMs = 90'000;
constexpr int kWatchTimeoutMs = 60'000;

}  // namespace

Result<run::EndedLost> RunnerServices::EndLost(const run::EndLostRequest& request) {
  return calls_.AskFor<run::EndedLost>(run::kVerbEndLost, run::ToJsonObject(request), kNoTimeout);
}

Result<run::Collected> RunnerServices::Collect(const std::string& run_id) {
  return calls_.AskFor<run::Collected>(run::kVerbCollect, ForRun(run_id), kNoTimeout);
}

Result<run::EnvironmentsAnswer> RunnerServices::Environments(
    const run::EnvironmentsRequest& request) {
  return calls_.AskFor<run::EnvironmentsAnswer>(run::kVerbEnvironments, run::ToJsonObject(request),
                                                kNoTimeout);
}

Result<run::SweepAnswer> RunnerServices::Sweep(const run::SweepRequest& request) {
  return calls_.AskFor<run::SweepAnswer>(run::kVerbSweep, run::ToJsonObject(request), kNoTimeout);
}

Result<json::Object> RunnerServices::Probe() {
  return calls_.Ask(run::kVerbProbe, {}, kProbeTimeoutMs);
}

Result<run::HostedAnswer> RunnerServices::Hosted(const run::HostedRequest& request) {
  return calls_.AskFor<run::HostedAnswer>(run::kVerbHosted, run::ToJsonObject(request), kNoTimeout);
}

Result<run::WatchIdleAnswer> RunnerServices::WatchIdle(const run::WatchIdleRequest& request) {
  return calls_.AskFor<run::WatchIdleAnswer>(run::kVerbWatchIdle, run::ToJsonObject(request),
                                             kWatchTimeoutMs);
}

Result<std::vector<std::string>> RunnerServices::EnterCommand(
    const std::string& run_id, bool tty, const std::vector<std::string>& words) {
  TENON_TRY(std::string path, calls_.EnsureRunner());
  std::vector<std::string> argv = {path, run::kVerbExec, calls_.home(), run_id,
                                   tty ? "tty" : "plain"};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

Result<std::vector<std::string>> RunnerServices::PortCommand(const std::string& run_id, int port) {
  TENON_TRY(std::string path, calls_.EnsureRunner());
  return std::vector<std::string>{path,   run::kVerbExec, calls_.home(),
                                  run_id, "port",         std::to_string(port)};
}

}  // namespace tenon::launch
