// SPDX-License-Identifier: Apache-2.0
// For tests: a launch and the services of one host, which share one RunnerCalls.
#ifndef TENON_LAUNCH_RUNNER_OF_HOST_H_
#define TENON_LAUNCH_RUNNER_OF_HOST_H_

#include <string>
#include <utility>

#include "launch/direct_launch.h"
#include "launch/runner_services.h"

namespace tenon::launch {

class RunnerOfHost : RunnerCalls, public DirectLaunch, public RunnerServices {
 public:
  RunnerOfHost(transport::Host& host, std::string home, RunnerProgram program)
      : RunnerCalls(host, std::move(home), std::move(program)),
        DirectLaunch(static_cast<RunnerCalls&>(*this)),
        RunnerServices(static_cast<RunnerCalls&>(*this)) {}
  RunnerOfHost(const RunnerOfHost&) = delete;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_RUNNER_OF_HOST_H_
