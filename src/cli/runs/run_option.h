// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_RUN_OPTION_H_
#define TENON_CLI_RUNS_RUN_OPTION_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "journal/fold.h"

namespace tenon::cli {

class OptionTable;

// "Which run": a word, or -r/--run as the Workbench had it, and the -t/--target that it asked for
// and we don't need, since a run knows its own.
struct RunOption {
  std::string word;
  std::string option;
  std::string target;

  // `otherwise` when neither was given; empty: kInvalid.
  Result<std::string> Name(const std::string& otherwise) const;
  // Finds and refreshes the run, as far as is known here.
  Result<journal::RunView> Get(Session& session, const std::string& otherwise) const;
  // The same after going to look on the machine where it is.
  Result<journal::RunView> GoAndGet(Session& session, const std::string& otherwise) const;
};

void AddRunOption(OptionTable& table, RunOption* run);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_RUN_OPTION_H_
