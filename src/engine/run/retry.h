// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_RETRY_H_
#define TENON_ENGINE_RUN_RETRY_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "engine/run/submit.h"

namespace tenon::engine {

// Starts a run again after its machine was restarted, if it was submitted with retries and was not
// started again yet: as a new run with one retry less, from the same snapshot. Whoever looks first
// does it. A file in the run's folder is the claim among the commands of this client; a claim on
// the machine decides among clients. Returns nullopt when there is nothing to do, or when the start
// failed (for example because `secrets` lacks one); the reporter then hears why.
Result<std::optional<std::string>> RetryAfterRestart(Context& context, const std::string& run_id,
                                                     const std::vector<Secret>& secrets,
                                                     Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RETRY_H_
