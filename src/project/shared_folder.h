// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_SHARED_FOLDER_H_
#define TENON_PROJECT_SHARED_FOLDER_H_

#include <string>
#include <vector>

#include "project/files/target.h"
#include "project/project.h"

namespace tenon::project {

// Parts below nativeSharedDirectory: account, workspace and project, or the project alone.
std::vector<std::string> SharedParts(const Project& project);

// nativeSharedDirectory without volumes cannot reach a container.
bool HasNoShare(const Target& target);

// The folder that runs of the project share on that target, with a slash at the end and `~` left
// for the host; "" when there is none.
std::string SharedFolder(const Project& project, const Target& target);

}  // namespace tenon::project

#endif  // TENON_PROJECT_SHARED_FOLDER_H_
