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

// Shared by submit and rerun: the options for watching a run, and the watching.
struct WatchOptions {
  bool detach = false;
  bool quiet = false;
  // called as `experiment submit`: prints the Workbench's texts on standard output
  bool workbench = false;
};
void AddWatchOptions(OptionTable& table, WatchOptions* options);

// How to start a run, and how to repair its snapshot.
struct StartOfRun {
  // Starts the run and returns its id.
  std::function<Result<std::string>()> start;
  // Called if `run_id` could not begin because files of its snapshot were damaged in the store of
  // its machine. The damaged files are removed by then. Puts back what can be had. Error: a new
  // start would not help.
  std::function<Status(const std::string& run_id)> mend;
};

// Starts a run, follows it to its end and returns the exit code of `submit`: that of the script, or
// 130 if Ctrl-C stopped the watching. Prints the run's id as -q and --json promise. If the run is
// retried after a restart of its machine, watches the new run. If the snapshot was damaged, repairs
// it and starts a new run, a few times at most.
Result<int> StartAndWatch(Session& session, const StartOfRun& how, const WatchOptions& options,
                          const std::vector<engine::Secret>& secrets,
                          const InterruptWatch& interrupt, TerminalReporter& reporter);

// Reads --secret NAME, NAME=@FILE and NAME=$VAR. kInvalid for a literal value, so that no secret
// lands in the shell's history.
Result<std::vector<engine::Secret>> ReadSecrets(const std::vector<std::string>& words,
                                                const Environment& environment);

// Parses the value of a time option such as "--grace 30s". nullopt if the text is empty.
Result<std::optional<int64_t>> ParseTime(const std::string& option, const std::string& text);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUNS_WATCH_H_
