// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_
#define TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_

#include <string>

#include "base/result.h"
#include "project/dependencies/package_list.h"

namespace tenon::project {

// A locked uv project: pyproject.toml with uv.lock beside it. Adds what decides about its
// environment: both files as they mean it, the Python that is asked for, and wheels that lie in the
// project.
//
// `file` is either of the two, relative to the root. The other one is missing: kInvalid that says
// how to make it. A file that is not TOML: kInvalid with its line.
Status AddUvProject(const std::string& root, const std::string& file, PackageList* list);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_UV_LOCK_H_
