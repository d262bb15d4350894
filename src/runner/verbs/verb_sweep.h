// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_SWEEP_H_
#define TENON_RUNNER_VERBS_VERB_SWEEP_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `sweep`: removes containers of this home that nobody needs any more: those of runs that
// have ended (kept ones too, unless they are spared) or are not known any more, started or not, and
// those of builds that nobody watches. One that has the only copy of a run's outputs stays. It asks
// every engine that an environment or a run of this home has used, and the one that a run would use
// now. An engine that does not answer is named among what was kept. Containers of other homes are
// not touched.
Result<run::SweepAnswer> Sweep(const std::string& home, const run::SweepRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_SWEEP_H_
