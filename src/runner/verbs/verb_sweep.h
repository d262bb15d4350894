// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_SWEEP_H_
#define TENON_RUNNER_VERBS_VERB_SWEEP_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `sweep`: removes containers of this home that nobody needs any more. These are
// containers of runs that have ended or whose folder is gone, started or not, and containers of
// builds that nobody watches. Containers kept for a look go too, unless the request spares them. A
// container with the only copy of a run's outputs stays. Asks every engine that an environment or a
// run of this home has used, and the engine that a run would use now. The answer's `kept` names an
// engine that does not answer. Does not touch containers of other homes.
Result<run::SweepAnswer> Sweep(const std::string& home, const run::SweepRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_SWEEP_H_
