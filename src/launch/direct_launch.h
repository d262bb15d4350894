// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_DIRECT_LAUNCH_H_
#define TENON_LAUNCH_DIRECT_LAUNCH_H_

#include <map>
#include <string>

#include "base/json.h"
#include "launch/launch.h"
#include "transport/host.h"

namespace tenon::launch {

// Starts the runner as a plain command on a host; it detaches by itself (docs/runner.md).
class DirectLaunch : public Launch {
 public:
  // `host` must outlive this object.
  DirectLaunch(transport::Host& host, RunnerProgram program);

  Result<run::RunnerStarted> Start(const StartRequest& request) override;
  Result<run::State> Cancel(const CancelRequest& request) override;
  Result<run::State> Recover(const RecoverRequest& request) override;

 private:
  // The runner's path on the host, after making sure that it is there.
  Result<std::string> EnsureRunner(const std::string& home);
  Status CheckFreshRunner(const std::string& path);
  // Runs one verb; the answer, or the Error it holds.
  Result<json::Object> Ask(const char* verb, const std::string& home, const json::Object& request,
                           int timeout_ms);

  transport::Host& host_;
  RunnerProgram program_;
  std::map<std::string, std::string> runner_paths_;  // by home; those made sure of
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_DIRECT_LAUNCH_H_
