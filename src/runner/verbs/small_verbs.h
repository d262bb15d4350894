// SPDX-License-Identifier: Apache-2.0
// Verbs that print no first line and read no request.
#ifndef TENON_RUNNER_VERBS_SMALL_VERBS_H_
#define TENON_RUNNER_VERBS_SMALL_VERBS_H_

#include <optional>
#include <string>
#include <vector>

namespace tenon::runner {

// Runs `environment [MARK]`, `check HASH`, `dial PATH|PORT` or `login SHELL TEXT`, and returns the
// exit code. nullopt: it is another verb.
std::optional<int> RunSmallVerb(const std::vector<std::string>& words);

// Copies what comes from `in` to `socket`, and what comes from `socket` to `out`. When `in` ends,
// ends the socket's input too. Returns when the socket has ended or nobody reads `out` any more.
void Join(int in, int out, int socket);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_SMALL_VERBS_H_
