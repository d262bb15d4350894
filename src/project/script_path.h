// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_SCRIPT_PATH_H_
#define TENON_PROJECT_SCRIPT_PATH_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::project {

// A file of the project as somebody typed it → its path relative to `root`, with forward slashes.
// Relative paths start at `cwd` (or at `root` when `cwd` is not inside the project); an absolute
// path inside the project is taken; back-slashes are separators where no file has them in its name.
// `what` names the thing in messages: "the script". Not there: kNotFound with the nearest *.py as a
// hint; outside the project or not a file: kInvalid.
Result<std::string> FileInProject(const std::string& root, const std::string& cwd,
                                  const std::string& typed, std::string_view what);

}  // namespace tenon::project

#endif  // TENON_PROJECT_SCRIPT_PATH_H_
