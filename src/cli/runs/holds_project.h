// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_HOLDS_PROJECT_H_
#define TENON_CLI_RUNS_HOLDS_PROJECT_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"

namespace tenon::cli {

// Whether the folder (there or not) is a project's: it has aml_config/ or .azureml/, or something
// was submitted from it.
Result<bool> HoldsProject(Session& session, const std::string& folder);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_HOLDS_PROJECT_H_
