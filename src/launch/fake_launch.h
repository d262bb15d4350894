// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_FAKE_LAUNCH_H_
#define TENON_LAUNCH_FAKE_LAUNCH_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/host_services.h"
#include "launch/launch.h"

namespace tenon::launch {

// A launch made of data, for tests of what stands above it. A started run is Running until it is
// canceled, finished with SetState, or its runner is said to be gone. Writes no journal; a test
// that wants one gives `on_start`.
class FakeLaunch : public Launch {
 public:
  Result<Started> Start(const StartRequest& request) override;
  Result<run::State> Cancel(const run::CancelRequest& request,
                            const run::LaunchHandle& handle) override;
  Result<run::Recovered> Recover(const std::string& run_id,
                                 const run::LaunchHandle& handle) override;

  // The next call of any kind fails with this and changes nothing.
  void FailNext(Error error) { next_error_ = std::move(error); }
  void SetState(const std::string& run_id, run::State state) { runs_[run_id].state = state; }
  // Its runner was killed: Recover() finds it Failed.
  void KillRunner(const std::string& run_id) { runs_[run_id].runner_gone = true; }

  std::function<Status(const StartRequest&)> on_start;
  std::vector<StartRequest> starts;  // those that started something
  std::vector<run::CancelRequest> cancels;

  // The error that the next call is to fail with, if there is one. Taken by asking.
  std::optional<Error> TakeError();
  // nullopt: no such run was started here.
  std::optional<run::State> StateOf(const std::string& run_id) const;

 private:
  struct Run {
    run::State state = run::State::kRunning;
    bool runner_gone = false;
    Started started;
  };

  std::map<std::string, Run> runs_;
  std::optional<Error> next_error_;
};

// The services of the host whose runs a FakeLaunch has. Its FailNext() counts here too.
class FakeServices : public HostServices {
 public:
  explicit FakeServices(FakeLaunch& launch) : launch_(launch) {}

  Result<run::EndedLost> EndLost(const run::EndLostRequest& request) override;
  Result<run::Collected> Collect(const std::string& run_id) override;
  Result<run::EnvironmentsAnswer> Environments(const run::EnvironmentsRequest& request) override;
  Result<run::SweepAnswer> Sweep(const run::SweepRequest& request) override;
  Result<json::Object> Probe() override;
  Result<run::HostedAnswer> Hosted(const run::HostedRequest& request) override;
  Result<run::WatchIdleAnswer> WatchIdle(const run::WatchIdleRequest& request) override;
  Result<std::vector<std::string>> EnterCommand(const std::string& run_id, bool tty,
                                                const std::vector<std::string>& words) override;
  Result<std::vector<std::string>> PortCommand(const std::string& run_id, int port) override;

  std::vector<run::EndLostRequest> lost;
  std::vector<run::ListedEnvironment> environments;  // those in use are kept
  std::map<std::string, std::string> containers;     // name → run; gone with the run's end
  std::vector<run::SweepRequest> sweeps;
  json::Object facts;        // what Probe() answers
  run::HostedAnswer hosted;  // what Hosted() answers, but for what was removed
  std::vector<run::HostedRequest> hosted_requests;
  std::optional<run::WatchIdleRequest> watcher;

 private:
  FakeLaunch& launch_;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_FAKE_LAUNCH_H_
