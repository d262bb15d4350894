// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_OUTPUTS_FETCH_H_
#define TENON_ENGINE_OUTPUTS_FETCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/host/machine.h"
#include "engine/reporter.h"
#include "journal/fold.h"

namespace tenon::engine {

// Brings objects of a far home into our store; those that are here already are not asked for, and
// a large one that was cut off goes on where it stopped. `what` names the work for OnProgress.
// Returns how many bytes came. kCorrupt, and the end of the conversation: the machine sends
// something else than was asked for, or says that it has sent what it has not.
Result<uint64_t> FetchObjects(Context& context, Machine& far,
                              const std::vector<WantedObject>& wanted, std::string_view what,
                              Reporter& reporter);
// A whole tree, by its root (hex).
Result<uint64_t> FetchTree(Context& context, Machine& far, const std::string& root,
                           std::string_view what, Reporter& reporter);

// The outputs of a far run that is over: all that its journal (the copy here) names. Done once: a
// mark in the run's folder says so, unless the machine has outputs that it could not collect.
Status FetchOutputs(Context& context, Machine& far, const std::string& run_id, Reporter& reporter);
bool OutputsFetched(const Context& context, const std::string& run_id);
// Sets that mark, also for a run whose outputs are lost.
Status MarkFetched(const Context& context, const std::string& run_id);
// Onto the disk with what is here of the run, before the machine's own is removed.
Status SecureFetched(const Context& context, const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_FETCH_H_
