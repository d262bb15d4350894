// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_HOSTED_H_
#define TENON_RUNNER_VERBS_VERB_HOSTED_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// What is kept on this host, after removing what was asked for. What goes on, what another process
// is using and what cannot be removed is named among what was kept.
Result<run::HostedAnswer> AnswerHosted(const std::string& home, const run::HostedRequest& request);

// For the end of a run: applies the policy (30 days) to a home that clients of other machines use,
// at most once a day, unless somebody else does so already. Never fails.
void CleanHostedHome(const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_HOSTED_H_
