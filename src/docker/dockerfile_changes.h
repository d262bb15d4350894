// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_DOCKERFILE_CHANGES_H_
#define TENON_DOCKER_DOCKERFILE_CHANGES_H_

#include <string>
#include <vector>

#include "base/json.h"

namespace tenon::docker {

// A container configuration as lines of a Dockerfile, which are all that Podman takes when it makes
// an image: Env, Labels, User, WorkingDir, Cmd, Entrypoint. In Podman's own grammar, which has no
// escapes: line breaks in values become blanks.
std::vector<std::string> DockerfileChanges(const json::Object& config);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_DOCKERFILE_CHANGES_H_
