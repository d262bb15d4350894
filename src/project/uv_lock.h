// SPDX-License-Identifier: Apache-2.0
// pyproject.toml with uv.lock beside it. Nothing of TOML is understood but what decides about an
// environment here: comments, the Python that is asked for, and sources that lie in the project.
#ifndef TENON_PROJECT_UV_LOCK_H_
#define TENON_PROJECT_UV_LOCK_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "project/package_list.h"

namespace tenon::project {

// TOML without comments, blank lines and blanks at the ends of lines; text in quotes stays.
std::string TomlThatCounts(std::string_view bytes);

// The value of `requires-python` in [project]; "" when it is not said on one line.
std::string RequiresPython(std::string_view pyproject);

// `file` is pyproject.toml or uv.lock, relative to the root. The other one is missing: kInvalid
// that says how to make it.
Status AddUvProject(const std::string& root, const std::string& file, PackageList* list);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UV_LOCK_H_
