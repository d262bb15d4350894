// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_DIRECT_LAUNCH_H_
#define TENON_LAUNCH_DIRECT_LAUNCH_H_

#include <string>

#include "launch/launch.h"
#include "launch/runner_calls.h"

namespace tenon::launch {

// Starts the runner as a plain command on a host. The runner detaches by itself (docs/runner.md).
class DirectLaunch : public Launch {
 public:
  // `calls` must outlive this object.
  explicit DirectLaunch(RunnerCalls& calls) : calls_(calls) {}

  Result<Started> Start(const StartRequest& request) override;
  Result<run::State> Cancel(const run::CancelRequest& request,
                            const run::LaunchHandle& handle) override;
  Result<run::Recovered> Recover(const std::string& run_id,
                                 const run::LaunchHandle& handle) override;

 private:
  // Sends `start`. A host that does not share our disk gets the tree first and then carries out
  // `start`.
  Result<json::Object> AskStart(const StartRequest& request, json::Object object);

  RunnerCalls& calls_;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_DIRECT_LAUNCH_H_
