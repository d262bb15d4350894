// SPDX-License-Identifier: Apache-2.0
// What a project asks for in its environment: the file that CondaDependenciesFile or -d names, in
// any of its forms, as run::Packages.
#ifndef TENON_PROJECT_DEPENDENCIES_PACKAGES_H_
#define TENON_PROJECT_DEPENDENCIES_PACKAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/origin.h"
#include "run/packages.h"

namespace tenon::project {

enum class PackagesFormat { kConda, kRequirements, kUvLock, kUnknown };
// By the file's name: *.txt, *.in are requirements files, pyproject.toml and uv.lock belong
// together, *.yml, *.yaml and *.json are conda files.
PackagesFormat PackagesFormatOf(std::string_view file);

struct ReadPackagesResult {
  run::Packages packages;
  std::vector<std::string> notices;  // "file:line: …", once each
};

// `file` is relative to the root. Not there: nothing is asked for when nobody named it, or when it
// has the usual name, which every file of 2017 writes (then with a notice); else kNotFound with the
// place that names it. Items keep the order of the file.
Result<ReadPackagesResult> ReadPackages(const std::string& root, const Setting<std::string>& file);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_PACKAGES_H_
