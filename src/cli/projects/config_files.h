// SPDX-License-Identifier: Apache-2.0
// What the commands on a project's files have in common.
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

// The current folder, absolute.
Result<std::string> CurrentFolder();
std::optional<std::string> GivenProject(const Session& session);  // --project

// The project of the current folder or of --project. A broken project.json does not matter to
// files.
Result<project::Project> OpenFiles(const Session& session);

// "aml_config/vm.compute:9: nvidiaDocker: not set → true", to standard output; or JSON.
void PrintChanges(const Session& session, const std::vector<project::Change>& changes);

// Asks on the terminal. kInvalid where there is none to ask on: `instead` names the option that
// answers. False for anything but yes.
Result<bool> AskYes(const std::string& question, const std::string& instead);

}  // namespace tenon::cli

#endif  // TENON_CLI_PROJECTS_CONFIG_FILES_H_
