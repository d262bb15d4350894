// SPDX-License-Identifier: Apache-2.0
// Reads the packages of a project's environment from the file that CondaDependenciesFile or -d
// names, in any supported format, as run::Packages.
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
// Decides by the file's name. *.txt and *.in are requirements files. pyproject.toml and uv.lock
// belong together. *.yml, *.yaml and *.json are conda files.
PackagesFormat PackagesFormatOf(std::string_view file);

struct ReadPackagesResult {
  run::Packages packages;
  std::vector<std::string> notices;  // "file:line: …", once each
};

// `file` is relative to the root. A missing file asks for nothing if no setting names it. It also
// asks for nothing, with a notice, if it is aml_config/conda_dependencies.yml, which every run
// configuration of 2017 names. Any other missing file is kNotFound, with the place that names it.
// Items keep the order of the file.
Result<ReadPackagesResult> ReadPackages(const std::string& root, const Setting<std::string>& file);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_PACKAGES_H_
