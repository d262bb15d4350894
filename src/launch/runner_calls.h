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

// Asks the runner of a host (docs/runner.md), which is put there when it is first needed.
class RunnerCalls {
 public:
  // `home` is the Tenon home on the host. `host` must outlive this object.
  RunnerCalls(transport::Host& host, std::string home, RunnerProgram program);

  transport::Host& host() const { return host_; }
  const std::string& home() const { return home_; }

  // The runner's path on the host, after making sure that it is there.
  Result<std::string> EnsureRunner();

  // What every request says, added to one.
  void Address(json::Object* request) const;
  // Runs one verb; the answer, or the Error it holds. `timeout_ms` 0: it may take as long as it
  // takes.
  Result<json::Object> Ask(const char* verb, json::Object request, int timeout_ms);
  // The same for described types. kCorrupt: the answer is not what it should be.
  template <Described Answer>
  Result<Answer> AskFor(const char* verb, json::Object request, int timeout_ms) {
    TENON_TRY(const json::Object told, Ask(verb, std::move(request), timeout_ms));
    auto answer = run::FromJsonObject<Answer>(told);
    if (!answer.ok()) return NotUnderstood(verb, answer.error());
    return answer;
  }
  // The answer in what a runner printed.
  Result<json::Object> AnswerOf(const Result<CaptureResult>& ran, const std::string& path,
                                const char* verb) const;

 private:
  Status CheckRunner(const std::string& path);
  Error NotUnderstood(const char* verb, const Error& why) const;

  transport::Host& host_;
  std::string home_;
  RunnerProgram program_;
  std::string runner_path_;  // empty: not made sure of yet
};

// A request about a run that says no more.
json::Object ForRun(const std::string& run_id);

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_RUNNER_CALLS_H_
