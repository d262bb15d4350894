// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_WATCH_H_
#define TENON_CLI_WATCH_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "cli/terminal_reporter.h"
#include "engine/submit.h"

namespace tenon::cli {

class OptionTable;

// What submit and rerun have in common: options of how to watch, and the watching itself.
struct WatchOptions {
  bool detach = false;
  bool quiet = false;
  bool workbench = false;  // said as `experiment submit`: the Workbench's texts on standard output
};
void AddWatchOptions(OptionTable& table, WatchOptions* options);

// Follows a run that was just started to its end and returns the exit code of `submit`: the
// script's, or 130 when Ctrl-C stopped the watching. Prints the run's id as -q and --json promise.
// A run that is started again because its machine was restarted is watched in its place.
// `damaged`, if given, is set when the run could not begin because files of its snapshot were
// damaged in the store of its machine, where they are taken out by now: it can be started anew.
Result<int> Watch(Session& session, const std::string& run_id, const WatchOptions& options,
                  const std::vector<engine::Secret>& secrets, const InterruptWatch& interrupt,
                  TerminalReporter& reporter, bool* damaged = nullptr);

// --secret NAME, NAME=@FILE, NAME=$VAR. kInvalid for a bare value, so that none lands in a history
// of the shell.
Result<std::vector<engine::Secret>> ReadSecrets(const std::vector<std::string>& words,
                                                const Environment& environment);

// "--grace 30s" and the like. nullopt for an empty text.
Result<std::optional<int64_t>> ParseTime(const std::string& option, const std::string& text);

}  // namespace tenon::cli

#endif  // TENON_CLI_WATCH_H_
