// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_DIRECT_LAUNCH_H_
#define TENON_LAUNCH_DIRECT_LAUNCH_H_

#include <string>

#include "base/json.h"
#include "launch/launch.h"
#include "transport/host.h"

namespace tenon::launch {

// Starts the runner as a plain command on a host; it detaches by itself (docs/runner.md).
class DirectLaunch : public Launch {
 public:
  // `home` is the Tenon home on the host. `host` must outlive this object.
  DirectLaunch(transport::Host& host, std::string home, RunnerProgram program);

  Result<run::RunnerStarted> Start(const StartRequest& request) override;
  Result<run::State> Cancel(const run::CancelRequest& request) override;
  Result<run::Recovered> Recover(const std::string& run_id) override;
  Result<run::EndedLost> EndLost(const run::EndLostRequest& request) override;
  Result<run::EnvironmentsAnswer> Environments(const run::EnvironmentsRequest& request) override;
  Result<run::Collected> Collect(const std::string& run_id) override;
  Result<run::SweepAnswer> Sweep(const run::SweepRequest& request) override;
  Result<json::Object> Probe() override;
  Result<run::HostedAnswer> Hosted(const run::HostedRequest& request) override;
  Result<run::WatchIdleAnswer> WatchIdle(const run::WatchIdleRequest& request) override;
  Result<std::vector<std::string>> EnterCommand(const std::string& run_id, bool tty,
                                                const std::vector<std::string>& words) override;
  Result<std::vector<std::string>> PortCommand(const std::string& run_id, int port) override;

 private:
  // The runner's path on the host, after making sure that it is there.
  Result<std::string> EnsureRunner();
  Status CheckRunner(const std::string& path);
  // Runs one verb; the answer, or the Error it holds. Protocol and home are added to the request.
  Result<json::Object> Ask(const char* verb, json::Object request, int timeout_ms);
  template <typename Answer>
  Result<Answer> AskFor(const char* verb, json::Object request, int timeout_ms);
  // `refused`: set when the runner itself says no; may be nullptr.
  Result<json::Object> AnswerOf(const Result<CaptureResult>& ran, const std::string& path,
                                const char* verb, bool* refused = nullptr) const;
  // The same for `start`, which a host without our disk carries out once it has the tree.
  Result<json::Object> AskStart(const StartRequest& request, json::Object object);

  transport::Host& host_;
  std::string home_;
  RunnerProgram program_;
  std::string runner_path_;  // empty: not made sure of yet
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_DIRECT_LAUNCH_H_
