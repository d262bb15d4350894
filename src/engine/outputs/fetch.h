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

// Fetches objects of a far home into our store. Objects that the store has are not requested; a
// large object that was cut off goes on where it stopped. `what` names the work for OnProgress.
// Returns how many bytes came. Fails with kCorrupt when the machine sends something else than was
// asked for (the session is then closed), or says that it has sent what has not come.
Result<uint64_t> FetchObjects(Context& context, Machine& far,
                              const std::vector<WantedObject>& wanted, std::string_view what,
                              Reporter& reporter);
// The same for a whole tree, by its root (hex).
Result<uint64_t> FetchTree(Context& context, Machine& far, const std::string& root,
                           std::string_view what, Reporter& reporter);

// Fetches the outputs of a far run that is over: all that its journal (our copy) names. Then sets a
// mark in the run's folder, so it is done once; but not while the machine has outputs that it could
// not collect.
Status FetchOutputs(Context& context, Machine& far, const std::string& run_id, Reporter& reporter);
bool OutputsFetched(const Context& context, const std::string& run_id);
// Sets that mark. Also used for a run whose outputs are lost.
Status MarkFetched(const Context& context, const std::string& run_id);
// Syncs the copies of the run's segments to disk. To be called before the machine's own files of
// the run are removed.
Status SecureFetched(const Context& context, const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_FETCH_H_
