// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_EXEC_H_
#define TENON_RUNNER_VERBS_EXEC_H_

#include <string>
#include <vector>

namespace tenon::runner {

// The verb `exec`: runs a command where a run's script is, on our standard streams, or joins them
// to a port of the loopback address there. For a run in a container, "there" is inside the
// container, as the script's user. For a process, it is the script's working directory, with its
// environment. Returns the command's exit code, 125 when it could not be started. Prints errors
// itself.
int RunExec(const std::vector<std::string>& words);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_EXEC_H_
