// SPDX-License-Identifier: Apache-2.0
// Helpers for the commands that work on a project's files.
#ifndef TENON_CLI_PROJECTS_CONFIG_FILES_H_
#define TENON_CLI_PROJECTS_CONFIG_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/session.h"
#include "project/files/config_set.h"
#include "project/project.h"

namespace tenon::cli {

std::optional<std::string> GivenProject(const Session& session);  // --project

// Opens the project of --project or of the current folder. A broken project.json is no error here.
Result<project::Project> OpenFiles(const Session& session);

// Prints each change as "aml_config/vm.compute:9: nvidiaDocker: not set → true" on standard output,
// or all as JSON.
void PrintChanges(const Session& session, const std::vector<project::Change>& changes);

// Asks yes or no on the terminal. Any answer but "y" or "yes" is no. kInvalid if standard input is
// not a terminal; `instead` is the option that answers beforehand.
Result<bool> AskYes(const std::string& question, const std::string& instead);

}  // namespace tenon::cli

#endif  // TENON_CLI_PROJECTS_CONFIG_FILES_H_
