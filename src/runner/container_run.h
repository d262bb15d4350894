// SPDX-License-Identifier: Apache-2.0
// A run whose script lives in a container: everything before its start, and what is fetched from it
// at the end.
#ifndef TENON_RUNNER_CONTAINER_RUN_H_
#define TENON_RUNNER_CONTAINER_RUN_H_

#include <atomic>

#include "base/process.h"
#include "base/result.h"
#include "run/event.h"
#include "run/layout.h"
#include "runner/handover.h"
#include "runner/prepare.h"
#include "runner/recorder.h"
#include "runner/request.h"

namespace tenon::runner {

// Finds the engine, decides about the GPU, gets image and environment, makes the container and, if
// the project is not shared with it, copies it in. The project has been unpacked. Hands over
// ContainerMade last; an Error leaves no container.
Result<Prepared> PrepareContainer(const StartRequest& request, Handover& handover,
                                  const std::atomic<bool>& stop);

// What a process of the run finds in its environment inside the container, over the image's own;
// without secrets and without what is the script's alone (its mark, its metrics).
Environment ContainerVariables(const StartRequest& request, const std::string& user_name);

// Copies outputs/ out of a container that was not given the run's own folder.
Status CopyOutputs(const run::ContainerMade& container, const run::RunFolder& folder,
                   Recorder& recorder);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_RUN_H_
