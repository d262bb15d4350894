// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_RUNNER_SERVICES_H_
#define TENON_LAUNCH_RUNNER_SERVICES_H_

#include <string>
#include <vector>

#include "launch/host_services.h"
#include "launch/runner_calls.h"

namespace tenon::launch {

// The services of a host, carried out by the verbs of its runner.
class RunnerServices : public HostServices {
 public:
  // `calls` must outlive this object.
  explicit RunnerServices(RunnerCalls& calls) : calls_(calls) {}

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

 private:
  RunnerCalls& calls_;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_RUNNER_SERVICES_H_
