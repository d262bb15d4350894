// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_SCRIPT_PATH_H_
#define TENON_PROJECT_SCRIPT_PATH_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::project {

// Turns a file name that the user typed into a path relative to `root`, with forward slashes. A
// relative path starts at `cwd`. If `cwd` is outside the project, it starts at `root`, or else at
// `cwd`. An absolute path must lie inside the project. Back-slashes count as separators if no file
// has them in its name. `what` names the thing in messages: "the script". kNotFound: no such file;
// the hint is the nearest *.py. kInvalid: outside the project, or not a file.
Result<std::string> FileInProject(const std::string& root, const std::string& cwd,
                                  const std::string& typed, std::string_view what);

}  // namespace tenon::project

#endif  // TENON_PROJECT_SCRIPT_PATH_H_
