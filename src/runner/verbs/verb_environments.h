// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_
#define TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `environments`: removes those that were asked for and lists what is there then. One that
// a run uses which goes on, or that is being made, or whose engine is away, stays and is named with
// the reason. A key that nobody knows counts as removed, so that a repeat answers alike.
Result<run::EnvironmentsAnswer> AnswerEnvironments(const std::string& home,
                                                   const run::EnvironmentsRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_
