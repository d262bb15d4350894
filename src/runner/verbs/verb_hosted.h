// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_VERB_HOSTED_H_
#define TENON_RUNNER_VERBS_VERB_HOSTED_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `hosted`: removes what the request names, then tells what is kept on this host. Its
// member `kept` names what goes on, what another process uses and what could not be removed.
Result<run::HostedAnswer> AnswerHosted(const std::string& home, const run::HostedRequest& request);

// For the end of a run: applies the policy (30 days) to a home that clients of other machines use.
// Does so at most once a day, and not while another process does. Never fails.
void CleanHostedHome(const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_HOSTED_H_
