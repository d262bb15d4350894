// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_DOCKERFILE_CHANGES_H_
#define TENON_DOCKER_DOCKERFILE_CHANGES_H_

#include <string>
#include <vector>

#include "base/json.h"

namespace tenon::docker {

// Prints a container configuration as lines of a Dockerfile: Env, Labels, User, WorkingDir, Cmd,
// Entrypoint. Podman takes only these when it makes an image of a container. Its grammar has no
// escapes, so line breaks in values become blanks.
std::vector<std::string> DockerfileChanges(const json::Object& config);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_DOCKERFILE_CHANGES_H_
