// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_DOT_FILES_H_
#define TENON_CLI_RUNS_DOT_FILES_H_

#include <string>
#include <vector>

namespace tenon::cli {

// Prints on standard error which outputs were not written into a project because their names begin
// with a dot, and how to get them. Prints nothing if there are none.
void SayDotFilesLeft(const std::vector<std::string>& names);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_DOT_FILES_H_
