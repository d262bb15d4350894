// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_COLLECT_H_
#define TENON_RUNNER_VERBS_VERB_COLLECT_H_

#include "base/json.h"
#include "base/result.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// The verb `collect`: takes the outputs of a run that is over and whose end says that they could
// not be collected, out of its container if they are there, into the object store, and adds their
// list to the journal. {collected, left}: `left` files could not be read and are kept. Repeatable;
// a run that has nothing left to collect is left as it is. Once all is collected, what the run kept
// for its outputs' sake alone goes.
Result<run::Collected> CollectLeft(const RunName& run);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_COLLECT_H_
