// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_CONTAINER_ENTER_CONTAINER_H_
#define TENON_RUNNER_CONTAINER_ENTER_CONTAINER_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "run/event.h"
#include "runner/supervise/executor.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Executor::Enter() for a run in a container: connects our standard streams to a command inside it.
// Returns the command's exit code. kNotFound: the container no longer runs.
Result<int> EnterContainer(const StartRequest& request, const run::ContainerMade& made, Door door,
                           std::vector<std::string> command);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_ENTER_CONTAINER_H_
