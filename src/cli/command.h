// SPDX-License-Identifier: Apache-2.0
// The table of commands. A command is declared once: words, summary, examples, options, action; the
// parser, --help, the man page and the completion are made from that.
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

// What a command does once its words are understood. Returns the exit code.
using Action = std::function<Result<int>(Session&)>;

struct Command {
  // Every way to say it, the usual one first: {"submit"}, {"experiment", "submit"}.
  std::vector<std::vector<std::string>> words;
  std::string summary;                // one line, no full stop
  std::string description;            // more, for --help; may be empty
  std::vector<std::string> examples;  // whole command lines
  // Adds the options to the table and returns the action; `words` tells which way it was said.
  std::function<Action(OptionTable&, const std::vector<std::string>& words)> declare;
  // Errors before the script exits with 125 (design § 3), for submit and rerun.
  bool starts_script = false;
};

// All commands, in the order of --help. One explicit table; the functions are in the commands'
// files.
const std::vector<Command>& AllCommands();

// What a word that leads to several commands is about.
const std::map<std::string, std::string>& GroupSummaries();

// For commands whose later words belong to a script: says that `word`, which looks like an option,
// is none, with "did you mean". Returns the exit code of a usage error.
int UnknownOption(const OptionTable& table, const std::string& word);

struct Line;
// Carries out what a line means: prints, acts, asks the query. Returns the exit code.
int RunLine(Session& session, const Line& line);

// Parses and runs. Everything is printed here; returns the exit code of the program. Called `az`,
// it is that program (cli/program/az.h). `others`: how other machines are reached; null: not at
// all.
int Main(int argc, char** argv, engine::OtherMachines* others);

// 0 done, 1 failed, 2 usage, 3 not found, 4 unavailable, 5 denied.
int ExitCodeFor(const Error& error);

// Where each command is made. One file each.
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
