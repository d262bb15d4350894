// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_
#define TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `environments`: removes the environments that the request names, then lists those that
// remain. Keeps environments that a live run uses, that are being made, or whose engine can't be
// reached, and names them with the reason. A key that nobody knows counts as removed, so a repeated
// request gets the same answer.
Result<run::EnvironmentsAnswer> AnswerEnvironments(const std::string& home,
                                                   const run::EnvironmentsRequest& request);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_ENVIRONMENTS_H_
