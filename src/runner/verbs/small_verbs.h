// SPDX-License-Identifier: Apache-2.0
// Verbs that are programs of their own: no first line, no request.
#ifndef TENON_RUNNER_VERBS_SMALL_VERBS_H_
#define TENON_RUNNER_VERBS_SMALL_VERBS_H_

#include <optional>
#include <string>
#include <vector>

namespace tenon::runner {

// `environment [MARK]`, `check HASH`, `dial PATH|PORT`, `login SHELL TEXT`: the exit code; nullopt:
// it is another verb.
std::optional<int> RunSmallVerb(const std::vector<std::string>& words);

// Joins two directions: what comes from `in` goes to `socket`, what comes from there to `out`.
// Returns when the socket's side has ended. An end of `in` is passed on.
void Join(int in, int out, int socket);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_SMALL_VERBS_H_
