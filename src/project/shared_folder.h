// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_SHARED_FOLDER_H_
#define TENON_PROJECT_SHARED_FOLDER_H_

#include <string>
#include <vector>

#include "project/files/target.h"
#include "project/project.h"

namespace tenon::project {

// The folders below nativeSharedDirectory: account, workspace and project; or only the project when
// account or workspace is unknown.
std::vector<std::string> SharedParts(const Project& project);

// Whether the target's container cannot get a shared folder, because sharedVolumes is false.
bool HasNoShare(const Target& target);

// The folder that all runs of the project share on that target, with a slash at the end and `~`
// left for the host; "" when there is none.
std::string SharedFolder(const Project& project, const Target& target);

}  // namespace tenon::project

#endif  // TENON_PROJECT_SHARED_FOLDER_H_
