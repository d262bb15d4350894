// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_
#define TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_

#include <string>

#include "base/result.h"
#include "project/dependencies/package_list.h"

namespace tenon::project {

// Adds a locked uv project: pyproject.toml with uv.lock in the same folder. Adds what determines
// its environment: the content of both files, the Python they ask for, and wheels inside the
// project.
//
// `file` is either of the two files, relative to the root. kInvalid, with how to make it: the other
// file is missing. kInvalid, with the line: a file is not valid TOML.
Status AddUvProject(const std::string& root, const std::string& file, PackageList* list);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_
