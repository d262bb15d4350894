// SPDX-License-Identifier: Apache-2.0
// The environment of a target whose scripts run as processes, where the user leaves it to us
// (`userManagedEnvironment: false`): a folder on the host, made once per key.
#ifndef TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_FOLDER_H_
#define TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_FOLDER_H_

#include <atomic>
#include <string>

#include "base/result.h"
#include "runner/supervise/handover.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

struct FolderEnvironment {
  std::string prefix;
  std::string python;
};

// Found, waited for, or made. Records what happens, EnvironmentReady included. kInvalid when it is
// not there and the run configuration does not want it made.
Result<FolderEnvironment> EnsureFolderEnvironment(const StartRequest& request, Handover& handover,
                                                  const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_FOLDER_H_
