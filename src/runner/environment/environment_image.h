// SPDX-License-Identifier: Apache-2.0
// The image that a script runs in: the base image, plus the project's environment if the project
// asks for packages. Made once per key and engine, as `tenon/env:<key>` (shared_image.h).
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

// What is needed to make a container. Found out once.
struct EngineContext {
  docker::Engine engine;
  docker::EngineInfo info;
  Credentials user;     // the script's user inside: ours, or root on a rootless engine
  std::string machine;  // this machine's name in messages, which may be read elsewhere
};

// Returns the base image. Pulls it if the engine does not have it.
Result<docker::Image> EnsureBaseImage(EngineContext& context, const run::ContainerSpec& spec,
                                      Handover& handover, const std::atomic<bool>& stop);

struct ImageEnvironment {
  run::EnvironmentReady ready;  // already recorded in the journal
  std::string image;            // the image to make the container from
  std::string python;           // interpreter inside; "": the init looks for one
};

// Finds the environment's image, waits for another run that is making it, or makes it. Records what
// happens, EnvironmentReady included. kInvalid when it does not exist and the run configuration
// forbids making it. Without packages, or when the user manages the environment, returns the base
// image.
Result<ImageEnvironment> EnsureEnvironmentImage(EngineContext& context, const StartRequest& request,
                                                const docker::Image& base, Handover& handover,
                                                const std::atomic<bool>& stop);

// The path of this program's file, to mount it into containers.
Result<std::string> OwnProgram();

// Limits that a container must be given explicitly on this engine, as "name=value".
std::vector<std::string> EngineLimits(const EngineContext& context);

// The name of the user who submitted the run; "user" when no usable character is left of it.
std::string UserName(const StartRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_IMAGE_H_
