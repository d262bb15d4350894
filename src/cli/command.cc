// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <csignal>

#include "base/text.h"
#include "base/waiting.h"
#include "cli/parse/command_line.h"
#include "cli/parse/not_here.h"
#include "cli/print/ask.h"
#include "cli/print/print.h"
#include "cli/program/az.h"

namespace tenon::cli {

const std::map<std::string, std::string>& GroupSummaries() {
  static const std::map<std::string, std::string> summaries = {
      {"asset", "Outputs of runs that were given a name (download, list, delete)"},
      {"env", "Packages that scripts run with (list, show, prepare, diff, clean)"},
      {"execute", "Older words for experiment"},
      {"computecontext", "Older words for computetarget"},
      {"computetarget", "Machines that scripts run on (attach, list, show, test, update, detach)"},
      {"config", "The project's files (show, set, check, upgrade)"},
      {"experiment", "Run scripts (submit, cancel, status, prepare, clean, diagnostics, return)"},
      {"history", "What ran before (list, last, info, compare, download, promote)"},
      {"project", "Make projects (create, sample, restore)"},
      {"sample", "Projects to start from (list, get)"},
      {"secrets", "Passwords of machines and other secrets, encrypted (set, list, remove, import)"},
      {"runconfiguration", "How scripts run (create, list, delete)"},
      {"runconfigurations", "The same as runconfiguration"},
      {"host", "Other machines as they are (list, show, clean, idle)"},
      {"data", "Data for all runs of a project (put, list, get, remove)"},
      {"runs", "List recorded runs; `runs delete` removes one, `runs fetch` takes some over"},
  };
  return summaries;
}

const std::vector<Command>& AllCommands() {
  static const std::vector<Command> commands = {
      SubmitCommand(),
      LogsCommand(),
      ExecCommand(),
      ShellCommand(),
      CpCommand(),
      ForwardCommand(),
      CancelCommand(),
      StatusCommand(),
      PsCommand(),
      RunsCommand(),
      RunsDeleteCommand(),
      RunsFetchCommand(),
      RunsCollectCommand(),
      ShowCommand(),
      MetricsCommand(),
      CompareCommand(),
      RerunCommand(),
      RestoreCommand(),
      SnapshotCommand(),
      TagCommand(),
      NoteCommand(),
      HistoryLastCommand(),
      HistoryInfoCommand(),
      HistoryDownloadCommand(),
      HistoryPromoteCommand(),
      HistoryRebuildCommand(),
      AssetDownloadCommand(),
      AssetListCommand(),
      AssetDeleteCommand(),
      ProjectCreateCommand(),
      ProjectSampleListCommand(),
      ProjectSampleGetCommand(),
      EnvListCommand(),
      EnvShowCommand(),
      ExperimentPrepareCommand(),
      EnvDiffCommand(),
      EnvCleanCommand(),
      ExperimentCleanCommand(),
      ExperimentDiagnosticsCommand(),
      ExperimentReturnCommand(),
      ConfigShowCommand(),
      ConfigSetCommand(),
      ConfigCheckCommand(),
      ConfigUpgradeCommand(),
      ComputeTargetAttachCommand(),
      ComputeTargetListCommand(),
      ComputeTargetShowCommand(),
      ComputeTargetTestCommand(),
      ComputeTargetUpdateCommand(),
      ComputeTargetDetachCommand(),
      HostListCommand(),
      HostShowCommand(),
      HostCleanCommand(),
      HostIdleCommand(),
      SshConfigCommand(),
      DataPutCommand(),
      DataListCommand(),
      DataGetCommand(),
      DataRemoveCommand(),
      RunConfigurationCreateCommand(),
      RunConfigurationListCommand(),
      RunConfigurationDeleteCommand(),
      SecretsSetCommand(),
      SecretsListCommand(),
      SecretsRemoveCommand(),
      SecretsImportCommand(),
      DuCommand(),
      GcCommand(),
      CompletionCommand(),
      ManCommand(),
      InstallAzCommand(),
      AzCommand(),
      VersionCommand(),
  };
  return commands;
}

int ExitCodeFor(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return 2;
    case ErrorKind::kNotFound:
      return 3;
    case ErrorKind::kUnavailable:
      return 4;
    case ErrorKind::kDenied:
      return 5;
    case ErrorKind::kCorrupt:
    case ErrorKind::kInternal:
      return 1;
  }
  return 1;
}

int RunLine(Session& session, const Line& line) {
  switch (line.kind) {
    case Line::Kind::kPrint:
    case Line::Kind::kWhich:
      PrintOut(line.text);
      FlushOut();
      return line.kind == Line::Kind::kPrint ? 0 : 2;
    case Line::Kind::kUsage:
      PrintError(line.error);
      return 2;
    case Line::Kind::kAct:
      break;
  }
  if (!session.globals.query.empty()) {
    auto query = jmespath::Parse(session.globals.query);
    if (!query.ok()) {
      PrintError(std::move(query).error().Wrap("--query"));
      return 2;
    }
    session.query = *std::move(query);
  }
  const Result<int> code = line.action(session);
  FlushOut();
  if (!code.ok()) {
    PrintError(code.error());
    return line.starts_script ? 125 : ExitCodeFor(code.error());
  }
  if (session.query_error) {
    PrintError(Error(*session.query_error).Wrap("--query"));
    return 2;
  }
  if (session.query && !session.query_used) {
    PrintErr("note: this command printed no JSON, so --query had nothing to choose from\n");
  }
  return *code;
}

int Main(int argc, char** argv, engine::OtherMachines* others) {
  std::signal(SIGPIPE, SIG_IGN);
  SetWaitListener(
      [](const std::string& sentence) { PrintErr("note: " + OneLine(sentence) + "\n"); });
  const std::string_view program = argc > 0 ? argv[0] : "tenon";
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  HideSecretArguments(argc, argv);
  if (program.substr(program.rfind('/') + 1) == "az") return AzMain(words, others);
  if (!words.empty() && words.front() == "az") {
    words.erase(words.begin());
    return AzMain(words, others);
  }
  if (const auto absent = FindNotHere(words, Program::kTenon)) return PrintNotHere(*absent, words);
  Session session(others);
  CommandLine command_line(session, Program::kTenon, &words);
  return RunLine(session, command_line.Parse(words));
}

}  // namespace tenon::cli
