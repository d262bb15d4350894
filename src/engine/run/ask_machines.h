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

// Runs of one machine (engine/host/hosts.h: its id), one at least.
struct RunsOfMachine {
  std::string host;
  std::vector<std::string> runs;
};

// Looks at one run. Called on a thread of its machine, with a context of that thread's own. Errors
// are told to the reporter by the callee.
using LookAtRun = std::function<void(Context& context, const std::string& run, Reporter& reporter)>;

// How long a machine may give no sign of life before it is not waited for any more.
inline constexpr int64_t kMachinePatienceUs = 5'000'000;

// Looks at runs of several machines at once. Returns when all have been looked at, or when those
// that are left have given no sign of life for `patience_us`; the reporter hears which those are.
// While somebody is asked for a password nobody's patience ends. `reporter` is called on the
// caller's thread alone.
//
// The threads of machines that were not waited for go on until their machine answers or is given
// up, a minute at most: what they find is recorded, and told to nobody.
void AskMachines(Context& context, const std::vector<RunsOfMachine>& machines,
                 const LookAtRun& look, Reporter& reporter,
                 int64_t patience_us = kMachinePatienceUs);

// Whether such threads are left. A program that ends has to do so without the destructors of what
// they use (_exit).
bool IsAskingStill();

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_ASK_MACHINES_H_
