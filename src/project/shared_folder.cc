// SPDX-License-Identifier: Apache-2.0
#include "project/shared_folder.h"

#include "base/file.h"
#include "project/types.h"

namespace tenon::project {

std::vector<std::string> SharedParts(const Project& project) {
  if (project.account.empty() || project.workspace.empty()) return {project.name.value};
  return {project.account, project.workspace, project.name.value};
}

bool HasNoShare(const Target& target) {
  const TargetType* type = FindTargetType(target.type.value);
  return type != nullptr && type->executor == run::ExecutorKind::kContainer &&
         !target.shared_volumes.value;
}

std::string SharedFolder(const Project& project, const Target& target) {
  std::string folder = target.native_shared_directory.value;
  if (folder.empty() || FindTargetType(target.type.value) == nullptr || HasNoShare(target))
    return "";
  for (const std::string& part : SharedParts(project)) folder = JoinPath(folder, part);
  return folder + "/";
}

}  // namespace tenon::project
