// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_CREATE_H_
#define TENON_PROJECT_CREATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::project {

struct NewFile {
  std::string path;  // relative, forward slashes
  std::string_view bytes;
  bool executable = false;
};

// Writes files into a folder and returns their paths, sorted. A new folder appears whole or not at
// all. An existing folder must be empty (else kInvalid), unless `force` is set: then files of the
// same names are replaced and all others are left alone.
Result<std::vector<std::string>> WriteNewFolder(const std::string& folder,
                                                const std::vector<NewFile>& files, bool force);

// The owner of the project, in the Workbench's terms; an empty part is written as "local".
struct Scope {
  std::string resource_group;
  std::string account;
  std::string workspace;
};
// The text of .azureml/project.json: one line without a line end.
std::string ProjectJson(const std::string& id, const Scope& scope, const std::string& name);

// kInvalid when `name` cannot be the name of a project and of its folder.
Status CheckProjectName(std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_CREATE_H_
