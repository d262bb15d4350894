// SPDX-License-Identifier: Apache-2.0
// The verbs of docs/runner.md. Each returns its answer or an Error; only RunVerb prints.
#ifndef TENON_RUNNER_VERBS_VERBS_H_
#define TENON_RUNNER_VERBS_VERBS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Starts a detached supervisor, unless the run has one. Returns in the calling process only.
Result<json::Object> Start(StartRequest request, const std::string& version);
Result<run::CancelAnswer> Cancel(const RunName& run, const run::CancelRequest& request,
                                 const std::string& version);
// docs/runner.md § end-lost: kInvalid when the run's folder is there.
Result<run::EndedLost> EndLost(const RunName& run, const run::EndLostRequest& request);
// What Cancel() leaves in the run's folder for its supervisor, or for who writes the end in its
// place. nullopt: nothing.
struct LeftRequest {
  std::optional<int64_t> grace_us;
  std::string reason;  // "canceled by ann on laptop"
};
std::optional<LeftRequest> ReadCancelRequest(const std::string& path);
Result<run::Recovered> Recover(const RunName& run, const std::string& version);

// Starts a detached supervisor for a run whose runner is gone and whose container may go on.
// Returns once it holds the segment, or has found that there is nothing to do.
Status Adopt(const RunName& run, const run::RunSpec& spec, const std::string& version);

// Prints the first line, reads the request from standard input, prints the answer. The exit code.
// `words`: the verb, and for `exec` what follows it.
int RunVerb(const std::vector<std::string>& words, const std::string& version);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERBS_H_
