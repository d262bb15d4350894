// SPDX-License-Identifier: Apache-2.0
// Writing files of aml_config/: whole or not at all, and never outside the project.
#ifndef TENON_PROJECT_FILES_CONFIG_FILE_H_
#define TENON_PROJECT_FILES_CONFIG_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// Where the bytes of a file of the project (`file` relative to the root) really lie; of a new one,
// where they will. kDenied when a symbolic link leads out of the project.
Result<std::string> RealPathInside(const Project& project, const std::string& file);

// Replaces a file of the project whose bytes were `before`; nullopt makes a new one, which must not
// be there yet. The mode stays. A file that has changed meanwhile is kUnavailable; then, and on any
// other failure, nothing is changed.
Status WriteConfigFile(const Project& project, const std::string& file,
                       const std::optional<std::string>& before, std::string_view bytes);

// Takes a file of the project away. Not there: kNotFound.
Status RemoveConfigFile(const Project& project, const std::string& file);

// kInvalid when `name` cannot be the name of a file in aml_config/. `what` is "target" or so.
Status CheckConfigName(std::string_view name, std::string_view what);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONFIG_FILE_H_
