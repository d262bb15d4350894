// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_RUN_PROJECT_H_
#define TENON_CLI_RUNS_RUN_PROJECT_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "journal/fold.h"

namespace tenon::cli {

// The folder of the project that a run belongs to. kInvalid if the current folder is in no project
// or in another one.
Result<std::string> RootForRun(Session& session, const journal::RunView& run);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_RUN_PROJECT_H_
