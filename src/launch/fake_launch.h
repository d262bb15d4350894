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

// A launch in memory, for tests of the code above it. A started run is Running until a test cancels
// it, calls SetState() or calls KillRunner(). Writes no journal; a test that wants one sets
// `on_start`.
class FakeLaunch : public Launch {
 public:
  Result<Started> Start(const StartRequest& request) override;
  Result<run::State> Cancel(const run::CancelRequest& request,
                            const run::LaunchHandle& handle) override;
  Result<run::Recovered> Recover(const std::string& run_id,
                                 const run::LaunchHandle& handle) override;

  // The next call of any kind fails with this error and changes nothing.
  void FailNext(Error error) { next_error_ = std::move(error); }
  void SetState(const std::string& run_id, run::State state) { runs_[run_id].state = state; }
  // The runner of the run was killed: Recover() finds the run Failed.
  void KillRunner(const std::string& run_id) { runs_[run_id].runner_gone = true; }

  std::function<Status(const StartRequest&)> on_start;
  std::vector<StartRequest> starts;  // requests that started something
  std::vector<run::CancelRequest> cancels;

  // Returns the error of FailNext(), if any, and forgets it.
  std::optional<Error> TakeError();
  // Returns nullopt when this launch has started no such run.
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

// The services of a host in memory, for the runs of a FakeLaunch. FailNext() of the launch applies
// to them too.
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
  std::vector<run::ListedEnvironment> environments;  // Environments() keeps those in use
  std::map<std::string, std::string> containers;     // name → run id; swept after the run's end
  std::vector<run::SweepRequest> sweeps;
  json::Object facts;        // what Probe() answers
  run::HostedAnswer hosted;  // what Hosted() answers, without the runs that were removed
  std::vector<run::HostedRequest> hosted_requests;
  std::optional<run::WatchIdleRequest> watcher;

 private:
  FakeLaunch& launch_;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_FAKE_LAUNCH_H_
