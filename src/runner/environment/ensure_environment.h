// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_ENVIRONMENT_ENSURE_ENVIRONMENT_H_
#define TENON_RUNNER_ENVIRONMENT_ENSURE_ENVIRONMENT_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "runner/environment/environments.h"
#include "runner/supervise/handover.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// What differs between an environment in an image and one in a folder.
struct EnvironmentKind {
  // Whether the folder or image that the record describes still exists.
  std::function<Result<bool>(const EnvironmentRecord&)> still_there;
  // Makes the environment with the versions in the file `pins` ("": the newest versions). Fills in
  // everything but the key, the packages and the times.
  std::function<Result<EnvironmentRecord>(const std::string& pins)> make;
  // Takes over an environment that another home has made; nullopt when there is none. Empty
  // function: homes do not share this kind.
  std::function<Result<std::optional<EnvironmentRecord>>()> adopt = nullptr;
};

// Makes sure that the environment `key` exists on this host. Uses the one that exists, waits for
// another run that is making it, takes it over (`adopt`), or makes it. A process that is killed
// meanwhile leaves nothing that looks finished. Records the step, EnvironmentReady, and that this
// run uses the environment. kInvalid when it does not exist and the run configuration forbids
// making it.
Result<EnvironmentRecord> EnsureEnvironment(const StartRequest& request, const std::string& key,
                                            const EnvironmentKind& kind, Handover& handover,
                                            const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENSURE_ENVIRONMENT_H_
