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

// Starts a run again whose machine was restarted, if it was submitted with retries and nobody has
// done it yet: as a new run with one retry less, from the same snapshot. Done by whoever looks
// first: among the commands of this client the claim is a file in the run's folder, among clients
// one on the machine. nullopt: nothing is to be done, or it cannot be
// (a secret is needed that is not in `secrets`), which the reporter hears.
Result<std::optional<std::string>> RetryAfterRestart(Context& context, const std::string& run_id,
                                                     const std::vector<Secret>& secrets,
                                                     Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RETRY_H_
