// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_ASK_MACHINES_H_
#define TENON_ENGINE_RUN_ASK_MACHINES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"

namespace tenon::engine {

// At least one run of one machine, which is named by its id (engine/host/hosts.h).
struct RunsOfMachine {
  std::string host;
  std::vector<std::string> runs;
};

// Looks at one run. Called on the machine's thread, with that thread's own context. The function
// reports its errors to the reporter itself.
using LookAtRun = std::function<void(Context& context, const std::string& run, Reporter& reporter)>;

// How long to wait for a machine that gives no sign of life.
inline constexpr int64_t kMachinePatienceUs = 5'000'000;

// Looks at runs of several machines at once. Returns when all runs have been looked at, or when the
// machines that are left have given no sign of life for `patience_us`; the reporter hears which
// they are. While the user is asked for a password, no machine counts as silent. `reporter` is
// called on the caller's thread alone.
//
// The threads of silent machines go on until the machine answers or is given up, a minute at most.
// What they find is recorded but not reported.
void AskMachines(Context& context, const std::vector<RunsOfMachine>& machines,
                 const LookAtRun& look, Reporter& reporter,
                 int64_t patience_us = kMachinePatienceUs);

// Whether threads of silent machines are left. A program that ends then has to use _exit, so that
// no destructor takes away what the threads use.
bool IsAskingStill();

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_ASK_MACHINES_H_
