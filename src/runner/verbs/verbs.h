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

// Starts a detached supervisor, unless the run has one, and answers with the supervisor's handle.
// May be repeated. Returns in the calling process only.
Result<json::Object> Start(StartRequest request, const std::string& version);
// Asks the run's supervisor to cancel the run, and waits some seconds until the request is recorded
// (docs/runner.md § cancel). If the runner is gone, does what Recover() does. kNotFound: the run
// never started here.
Result<run::CancelAnswer> Cancel(const RunName& run, const run::CancelRequest& request,
                                 const std::string& version);
// Ends what is left of a run whose folder is gone (docs/runner.md § end-lost). kInvalid: the run is
// known here.
Result<run::EndedLost> EndLost(const RunName& run, const run::EndLostRequest& request);
// The request that Cancel() leaves in the run's folder for the supervisor, or for the process that
// writes the end in its place. ReadCancelRequest() returns nullopt when there is none.
struct LeftRequest {
  std::optional<int64_t> grace_us;
  std::string reason;  // "canceled by ann on laptop"
};
std::optional<LeftRequest> ReadCancelRequest(const std::string& path);
// Writes the end of a run whose runner is gone. If the run's container goes on, starts a new
// supervisor for it instead. Changes nothing if the run is alive or has its end. kNotFound: the run
// never started here.
Result<run::Recovered> Recover(const RunName& run, const std::string& version);

// Starts a detached supervisor for a run whose runner is gone and whose container may go on.
// Returns once the supervisor holds the segment, or has found that there is nothing to do.
Status Adopt(const RunName& run, const run::RunSpec& spec, const std::string& version);

// Runs a verb: prints the first line, reads the request from standard input, prints the answer.
// Returns the exit code. `words`: the verb, and the arguments of a verb that takes some.
int RunVerb(const std::vector<std::string>& words, const std::string& version);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERBS_H_
