// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_COLLECT_H_
#define TENON_RUNNER_VERBS_VERB_COLLECT_H_

#include "base/json.h"
#include "base/result.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// The verb `collect`: for a run that is over and whose outputs were not all collected. Takes the
// outputs out of the run's container if they are still there, puts them into the object store and
// appends their list to the journal. Answers {collected, left}: `left` files could not be read and
// are kept. Once all are collected, removes what the run kept only for its outputs. May be
// repeated: changes nothing when no outputs are left to collect. kNotFound: the run never started
// here. kInvalid: the run has not ended.
Result<run::Collected> CollectLeft(const RunName& run);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_COLLECT_H_
