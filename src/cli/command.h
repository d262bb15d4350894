// SPDX-License-Identifier: Apache-2.0
// The table of commands. A command declares its words, summary, examples, options and action once.
// The parser, --help, the man page and the completion are made from this declaration.
#ifndef TENON_CLI_COMMAND_H_
#define TENON_CLI_COMMAND_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/session.h"

namespace tenon::cli {

class OptionTable;

// Carries out a command whose words were parsed. Returns the exit code.
using Action = std::function<Result<int>(Session&)>;

struct Command {
  // Every way to name it, the usual one first: {"submit"}, {"experiment", "submit"}.
  std::vector<std::vector<std::string>> words;
  std::string summary;                // one line, no full stop
  std::string description;            // more, for --help; may be empty
  std::vector<std::string> examples;  // whole command lines
  // Adds the options to the table and returns the action. `words` is the name that was used.
  std::function<Action(OptionTable&, const std::vector<std::string>& words)> declare;
  // An error before the script starts exits with 125 (design § 3). For submit and rerun.
  bool starts_script = false;
};

// All commands, in the order of --help. One explicit table; each command's function is in its own
// file.
const std::vector<Command>& AllCommands();

// Group words ("experiment") and a line on what each group is for.
const std::map<std::string, std::string>& GroupSummaries();

// For commands whose later words belong to a script: prints that `word` is an unknown option, with
// "did you mean". Returns the exit code of a usage error.
int UnknownOption(const OptionTable& table, const std::string& word);

struct Line;
// Carries out a parsed line: prints its text or error, or calls its action. Applies --query.
// Returns the exit code.
int RunLine(Session& session, const Line& line);

// Parses the arguments and runs the command. Prints everything, errors included, and returns the
// exit code of the program. If the program is called `az`, it acts as `az` (cli/program/az.h).
// `others`: how other machines are reached; null: they can't be.
int Main(int argc, char** argv, engine::OtherMachines* others);

// The exit code for an error: 1 failed, 2 usage, 3 not found, 4 unavailable, 5 denied. (0: done.)
int ExitCodeFor(const Error& error);

// The functions that make the commands.
Command SubmitCommand();
Command RerunCommand();
Command CancelCommand();
Command StatusCommand();
Command LogsCommand();
Command ExecCommand();
Command ShellCommand();
Command CpCommand();
Command ForwardCommand();
Command SshConfigCommand();
Command HostListCommand();
Command HostShowCommand();
Command HostCleanCommand();
Command HostIdleCommand();
Command DataPutCommand();
Command DataListCommand();
Command DataGetCommand();
Command DataRemoveCommand();
Command PsCommand();
Command RunsCommand();
Command RunsDeleteCommand();
Command RunsFetchCommand();
Command RunsCollectCommand();
Command ShowCommand();
Command MetricsCommand();
Command CompareCommand();
Command HistoryLastCommand();
Command HistoryInfoCommand();
Command HistoryDownloadCommand();
Command HistoryRebuildCommand();
Command HistoryPromoteCommand();
Command RestoreCommand();
Command SnapshotCommand();
Command TagCommand();
Command NoteCommand();
Command ConfigShowCommand();
Command ConfigSetCommand();
Command ConfigCheckCommand();
Command ConfigUpgradeCommand();
Command ComputeTargetAttachCommand();
Command ComputeTargetListCommand();
Command ComputeTargetShowCommand();
Command ComputeTargetTestCommand();
Command ComputeTargetUpdateCommand();
Command ComputeTargetDetachCommand();
Command RunConfigurationCreateCommand();
Command RunConfigurationListCommand();
Command RunConfigurationDeleteCommand();
Command SecretsSetCommand();
Command SecretsListCommand();
Command SecretsRemoveCommand();
Command SecretsImportCommand();
Command DuCommand();
Command GcCommand();
Command EnvListCommand();
Command EnvShowCommand();
Command EnvDiffCommand();
Command EnvCleanCommand();
Command ExperimentPrepareCommand();
Command ExperimentCleanCommand();
Command ExperimentDiagnosticsCommand();
Command ExperimentReturnCommand();
Command AssetDownloadCommand();
Command AssetListCommand();
Command AssetDeleteCommand();
Command ProjectCreateCommand();
Command ProjectSampleListCommand();
Command ProjectSampleGetCommand();
Command VersionCommand();
Command CompletionCommand();
Command ManCommand();
Command AzCommand();
Command InstallAzCommand();

}  // namespace tenon::cli

#endif  // TENON_CLI_COMMAND_H_
