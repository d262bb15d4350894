// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUNS_WATCH_H_
#define TENON_CLI_RUNS_WATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/print/terminal_reporter.h"
#include "cli/session.h"
#include "engine/run/submit.h"

namespace tenon::cli {

class OptionTable;

// What submit and rerun have in common: options of how to watch, and the watching itself.
struct WatchOptions {
  bool detach = false;
  bool quiet = false;
  bool workbench = false;  // said as `experiment submit`: the Workbench's texts on standard output
};
void AddWatchOptions(OptionTable& table, WatchOptions* options);

// How a run is started, and started anew.
struct StartOfRun {
  // Starts it; its id.
  std::function<Result<std::string>()> start;
  // The run `run_id` could not begin because files of its snapshot were damaged in the store of its
  // machine, where they are taken out by now. Puts there again what can be had; an Error: that does
  // not help.
  std::function<Status(const std::string& run_id)> mend;
};

// Starts a run, follows it to its end and returns the exit code of `submit`: the script's, or 130
// when Ctrl-C stopped the watching. Prints the run's id as -q and --json promise. A run that is
// started again because its machine was restarted is watched in its place; so is one that is
// started anew because its snapshot was damaged, which happens a few times at most.
Result<int> StartAndWatch(Session& session, const StartOfRun& how, const WatchOptions& options,
                          const std::vector<engine::Secret>& secrets,
                          const InterruptWatch& interrupt, TerminalReporter& reporter);

// --secret NAME, NAME=@FILE, NAME=$VAR. kInvalid for a bare value, so that none lands in a history
// of the shell.
Result<std::vector<engine::Secret>> ReadSecrets(const std::vector<std::string>& words,
                                                const Environment& environment);

// "--grace 30s" and the like. nullopt for an empty text.
Result<std::optional<int64_t>> ParseTime(const std::string& option, const std::string& text);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_WATCH_H_
