// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_RUNNER_CALLS_H_
#define TENON_LAUNCH_RUNNER_CALLS_H_

#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "launch/launch.h"
#include "run/described.h"
#include "transport/host.h"

namespace tenon::launch {

// Sends requests to the runner of one host (docs/runner.md). Puts the runner on the host when it is
// first needed.
class RunnerCalls {
 public:
  // `home` is the Tenon home on the host. `host` must outlive this object.
  RunnerCalls(transport::Host& host, std::string home, RunnerProgram program);

  transport::Host& host() const { return host_; }
  const std::string& home() const { return home_; }

  // Returns the runner's path on the host, after making sure that the runner is there.
  Result<std::string> EnsureRunner();

  // Adds to a request what every request says: the protocol and the home.
  void Address(json::Object* request) const;
  // Runs one verb. Returns the answer, or the Error in the answer. `timeout_ms` 0: no limit.
  Result<json::Object> Ask(const char* verb, json::Object request, int timeout_ms);
  // Like Ask(), for described types. Fails with kCorrupt when the answer does not fit the type.
  template <Described Answer>
  Result<Answer> AskFor(const char* verb, json::Object request, int timeout_ms) {
    TENON_TRY(const json::Object told, Ask(verb, std::move(request), timeout_ms));
    auto answer = run::FromJsonObject<Answer>(told);
    if (!answer.ok()) return NotUnderstood(verb, answer.error());
    return answer;
  }
  // Returns the answer in the output of a runner, or the Error in it.
  Result<json::Object> AnswerOf(const Result<CaptureResult>& ran, const std::string& path,
                                const char* verb) const;

 private:
  Status CheckRunner(const std::string& path);
  Error NotUnderstood(const char* verb, const Error& why) const;

  transport::Host& host_;
  std::string home_;
  RunnerProgram program_;
  std::string runner_path_;  // empty until EnsureRunner() has succeeded
};

// A request with the id of a run and nothing else.
json::Object ForRun(const std::string& run_id);

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_RUNNER_CALLS_H_
