// SPDX-License-Identifier: Apache-2.0
// The image a script runs in: the base image, with the project's environment in it where it asks
// for one. Made once per key and engine, as `tenon/env:<key>` (shared_image.h).
#ifndef TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_IMAGE_H_
#define TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_IMAGE_H_

#include <atomic>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "docker/engine.h"
#include "run/event.h"
#include "runner/environment/shared_image.h"
#include "runner/supervise/handover.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// What a container is made with, found out once.
struct EngineContext {
  docker::Engine engine;
  docker::EngineInfo info;
  Credentials user;     // who the script is inside: us, or root where root inside is us
  std::string machine;  // what messages call this machine: they may be read on another one
};

// The base image, pulled when it is not there.
Result<docker::Image> EnsureBaseImage(EngineContext& context, const run::ContainerSpec& spec,
                                      Handover& handover, const std::atomic<bool>& stop);

struct ImageEnvironment {
  run::EnvironmentReady ready;  // recorded already
  std::string image;            // to make the container of
  std::string python;           // interpreter inside; "" = find one there
};

// The environment's image: found, waited for, or made. Records what happens, EnvironmentReady
// included. kInvalid when it is not there and the run configuration does not want it made.
Result<ImageEnvironment> EnsureEnvironmentImage(EngineContext& context, const StartRequest& request,
                                                const docker::Image& base, Handover& handover,
                                                const std::atomic<bool>& stop);

// Where this program lies, for containers to have it.
Result<std::string> OwnProgram();

// Limits that a container of this engine has to be given, as "name=value".
std::vector<std::string> EngineLimits(const EngineContext& context);

// Of the runs' user; "user" when there is no name.
std::string UserName(const StartRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_IMAGE_H_
