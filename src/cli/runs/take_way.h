// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_TAKE_WAY_H_
#define TENON_CLI_RUNS_TAKE_WAY_H_

#include "base/result.h"
#include "engine/host/machine_door.h"

namespace tenon::cli {

// Starts the command of a way to a machine on our own standard streams. Where it does not need us
// it takes our place: terminal, signals and exit code are its own, and only an Error comes back.
// Else returns its exit code.
Result<int> TakeWay(const engine::WayIn& way);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_TAKE_WAY_H_
