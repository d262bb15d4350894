// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_RUN_OPTION_H_
#define TENON_CLI_RUNS_RUN_OPTION_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "journal/fold.h"

namespace tenon::cli {

class OptionTable;

// The options that name a run: a word, or -r/--run as in the Workbench. The Workbench also took
// -t/--target; Tenon accepts it and ignores it, since a run knows its target.
struct RunOption {
  std::string word;
  std::string option;
  std::string target;

  // The name that was given, else `otherwise`. kInvalid if both are empty.
  Result<std::string> Name(const std::string& otherwise) const;
  // Finds the run. Uses only what this machine knows; contacts no other.
  Result<journal::RunView> Get(Session& session, const std::string& otherwise) const;
  // The same after asking the machine of the run. If that machine can't be reached or refuses the
  // login, warns and returns what was last known. Starts the run again if its machine was restarted
  // and retries are left.
  Result<journal::RunView> GoAndGet(Session& session, const std::string& otherwise) const;
};

void AddRunOption(OptionTable& table, RunOption* run);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_RUN_OPTION_H_
