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

// Writes files into a folder. One that is not there appears whole or not at all; one that is there
// must be empty unless `force`, and then files of the same names are replaced, others left alone.
// Returns the paths, sorted.
Result<std::vector<std::string>> WriteNewFolder(const std::string& folder,
                                                const std::vector<NewFile>& files, bool force);

// Who the project belongs to, in the Workbench's words; empty parts are "local".
struct Scope {
  std::string resource_group;
  std::string account;
  std::string workspace;
};
// The text of .azureml/project.json: one line, no line end.
std::string ProjectJson(const std::string& id, const Scope& scope, const std::string& name);

// kInvalid when this cannot be the name of a project and of its folder.
Status CheckProjectName(std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_CREATE_H_
