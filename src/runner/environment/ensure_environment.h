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
  // Whether what the record speaks of is still there.
  std::function<Result<bool>(const EnvironmentRecord&)> still_there;
  // Makes it, with the versions of the file `pins` ("": whatever is newest). Fills everything but
  // key, packages and times.
  std::function<Result<EnvironmentRecord>(const std::string& pins)> make;
  // Takes over what somebody else has made who keeps records of their own; nullopt: there is
  // nothing. Empty where that can't be.
  std::function<Result<std::optional<EnvironmentRecord>>()> adopt = nullptr;
};

// An environment is made once per key and host: found, or waited for while another run makes it,
// taken over, or made. Whoever is killed meanwhile leaves nothing that looks finished. Records the
// step and EnvironmentReady, and that this run uses it. kInvalid when it is not there and the run
// configuration does not want it made.
Result<EnvironmentRecord> EnsureEnvironment(const StartRequest& request, const std::string& key,
                                            const EnvironmentKind& kind, Handover& handover,
                                            const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENSURE_ENVIRONMENT_H_
