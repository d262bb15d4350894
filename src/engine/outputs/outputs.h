// SPDX-License-Identifier: Apache-2.0
// Outputs that could not be collected when their run ended.
#ifndef TENON_ENGINE_OUTPUTS_OUTPUTS_H_
#define TENON_ENGINE_OUTPUTS_OUTPUTS_H_

#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "journal/fold.h"

namespace tenon::engine {

// Whether a run that is over has outputs that are not collected, as far as this home knows.
bool HasOutputsLeft(const Context& context, const journal::RunView& run);

// Tries again to collect them on the run's machine, and fetches them. Success: this home has all of
// them, or there was nothing to do. Otherwise the Error says why not, and where they are kept.
Status CollectLeftOutputs(Context& context, const std::string& run_id, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_OUTPUTS_H_
