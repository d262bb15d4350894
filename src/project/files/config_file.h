// SPDX-License-Identifier: Apache-2.0
// Writes files of aml_config/: whole or not at all, and never outside the project.
#ifndef TENON_PROJECT_FILES_CONFIG_FILE_H_
#define TENON_PROJECT_FILES_CONFIG_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// The path of a file of the project (`file` relative to the root) with links resolved. The file may
// be new; its folder must exist. kDenied when a symbolic link leads out of the project.
Result<std::string> RealPathInside(const Project& project, const std::string& file);

// Replaces a file of the project whose bytes were `before` and keeps its mode. `before` nullopt:
// creates a new file; kInvalid when it exists already. kUnavailable when the file has changed or
// gone since. Changes nothing when it fails.
Status WriteConfigFile(const Project& project, const std::string& file,
                       const std::optional<std::string>& before, std::string_view bytes);

// Removes a file of the project. kNotFound when it does not exist.
Status RemoveConfigFile(const Project& project, const std::string& file);

// kInvalid when `name` cannot be the name of a file in aml_config/. `what`: "target" or "run
// configuration", for the message.
Status CheckConfigName(std::string_view name, std::string_view what);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONFIG_FILE_H_
