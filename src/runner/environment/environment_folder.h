// SPDX-License-Identifier: Apache-2.0
// The environment of a target that runs scripts as processes and lets Tenon manage the environment
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

// Finds the folder, waits for another run that is making it, or makes it. Records what happens,
// EnvironmentReady included. kInvalid when it does not exist and the run configuration forbids
// making it.
Result<FolderEnvironment> EnsureFolderEnvironment(const StartRequest& request, Handover& handover,
                                                  const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_FOLDER_H_
