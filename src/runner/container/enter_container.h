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

// Executor::Enter() of a run in a container: our standard streams are those of a command inside.
// kNotFound: the container does not run any more.
Result<int> EnterContainer(const StartRequest& request, const run::ContainerMade& made, Door door,
                           std::vector<std::string> command);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_ENTER_CONTAINER_H_
