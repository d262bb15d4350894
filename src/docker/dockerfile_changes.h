// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_DOCKERFILE_CHANGES_H_
#define TENON_DOCKER_DOCKERFILE_CHANGES_H_

#include <string>
#include <vector>

#include "base/json.h"

namespace tenon::docker {

// A container configuration as lines of a Dockerfile, for engines that take nothing else when they
// make an image: Env, Labels, User, WorkingDir, Cmd, Entrypoint.
std::vector<std::string> DockerfileChanges(const json::Object& config);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_DOCKERFILE_CHANGES_H_
