// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_HOLDS_PROJECT_H_
#define TENON_CLI_RUNS_HOLDS_PROJECT_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"

namespace tenon::cli {

// Whether the folder is a project: it has aml_config/ or .azureml/, or a run was submitted from it.
// False if it does not exist.
Result<bool> HoldsProject(Session& session, const std::string& folder);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_HOLDS_PROJECT_H_
