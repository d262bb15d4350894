// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_TAKE_WAY_H_
#define TENON_CLI_RUNS_TAKE_WAY_H_

#include "base/result.h"
#include "engine/host/machine_door.h"

namespace tenon::cli {

// Starts the command of `way` on the standard streams of this process. Unless the command may ask
// this process for secrets, it replaces this process: then the terminal, signals and exit code are
// its own, and TakeWay() returns only on failure. Otherwise returns its exit code.
Result<int> TakeWay(const engine::WayIn& way);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_TAKE_WAY_H_
