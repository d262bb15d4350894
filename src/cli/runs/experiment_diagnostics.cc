// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/runs/dot_files.h"
#include "cli/runs/run_option.h"
#include "cli/runs/run_project.h"
#include "engine/outputs/diagnostics.h"
#include "engine/run/write_tree.h"

namespace tenon::cli {
namespace {

constexpr const char* kArchive = "diagnostics.zip";

Result<int> Diagnose(Session& session, const RunOption& option) {
  TENON_TRY(const journal::RunView run, option.Get(session, ""));
  TENON_TRY(const std::string root, RootForRun(session, run));
  TENON_TRY(engine::Context * context, session.Context());
  const std::string path = JoinPath(root, kArchive);
  const bool replaced = Exists(path);
  TENON_TRY(const auto made, engine::WriteDiagnostics(*context, run, RunToJson(run), path));
  for (const std::string& problem : made.problems) {
    PrintErr("warning: " + OneLine(problem) + "\n");
  }
  if (session.WantsJson()) {
    json::Array problems;
    for (const std::string& problem : made.problems) problems.emplace_back(problem);
    PrintValue(session, json::Object{{"path", json::EncodeBytes(path)},
                                     {"run_id", json::EncodeBytes(run.spec.id)},
                                     {"files", made.files},
                                     {"bytes", made.bytes},
                                     {"replaced", replaced},
                                     {"problems", std::move(problems)}});
    return 0;
  }
  PrintOut(OneLine(path) + "\n");
  FlushOut();
  PrintErr(Count(made.files, "entry", "entries") + ", " + HumanBytes(made.bytes) +
           (replaced ? "; the older one was replaced\n" : "\n") +
           "no password is in it, but your code and what the script printed are: look before you "
           "send it\n");
  return 0;
}

struct ReturnOptions {
  RunOption run;
  bool force = false, dot_files = false;
};

bool IsSymlink(const std::string& path) { return ReadLink(path).ok(); }

Result<int> Return(Session& session, const ReturnOptions& options) {
  TENON_TRY(const journal::RunView run, options.run.Get(session, ""));
  TENON_TRY(const std::string root, RootForRun(session, run));
  TENON_TRY(engine::Context * context, session.Context());
  if (!run::IsFinal(run.state)) {
    return Invalid("the run " + run.spec.id + " is " + ShownState(run) +
                   "; its outputs are collected when it ends")
        .WithHint("tenon logs -f " + run.spec.id + " waits for it");
  }
  const std::string folder = JoinPath(root, "outputs");
  std::vector<std::string> written;
  std::vector<std::string> dots_left;
  if (!run.outputs_tree.empty() && !run.artifacts.empty()) {
    if (IsSymlink(folder)) {
      return Invalid(OneLine(folder) + " is a symlink, which leads out of the project")
          .WithHint("tenon history download -r " + ShellQuote(run.spec.id) +
                    " -d DIR writes into any other folder");
    }
    TENON_TRY(written, engine::WriteTree(*context, run.outputs_tree, folder, options.force,
                                         "--force", options.dot_files ? nullptr : &dots_left));
  }
  json::Array list;
  for (std::string& path : written) {
    path = "outputs/" + path;
    list.emplace_back(json::EncodeBytes(path));
  }
  SayDotFilesLeft(dots_left);
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"run_id", json::EncodeBytes(run.spec.id)},
                                     {"folder", json::EncodeBytes(folder)},
                                     {"written", std::move(list)}});
    return 0;
  }
  for (const std::string& path : written) PrintOut(OneLine(path) + "\n");
  FlushOut();
  if (run.artifacts.empty()) {
    PrintErr("nothing of outputs/ of the run " + run.spec.id + " is on record; `tenon show " +
             run.spec.id + "` tells if something went wrong with it\n");
  } else if (written.empty() && dots_left.empty()) {
    PrintErr("nothing to do: outputs/ has every file already\n");
  }
  return 0;
}

}  // namespace

Command ExperimentDiagnosticsCommand() {
  return {{{"experiment", "diagnostics"}},
          "Put a run's project, logs and record into diagnostics.zip",
          "In the project's folder; an older one is replaced. It has the project as it was at that "
          "run, both logs, what was asked for and what is on record. Passwords and secrets are not "
          "in it.",
          {"tenon experiment diagnostics -r last", "tenon experiment diagnostics -r 12 -t local"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto option = std::make_shared<RunOption>();
            AddRunOption(table, option.get());
            return [option](Session& session) { return Diagnose(session, *option); };
          }};
}

Command ExperimentReturnCommand() {
  return {
      {{"experiment", "return"}},
      "Copy a run's outputs back into the project's outputs/",
      "Prints the files it wrote. Files that are there with other contents are replaced only "
      "with --force; files the run did not leave are not touched. Files whose names begin with a "
      "dot come only with --dot-files.",
      {"tenon experiment return -r last", "tenon experiment return -r 12 -t local --force"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<ReturnOptions>();
        AddRunOption(table, &options->run);
        table.Flag("--force", &options->force, "Replace files that are there");
        table.Flag("--dot-files", &options->dot_files,
                   "Also write files whose names begin with a dot");
        return [options](Session& session) { return Return(session, *options); };
      }};
}

}  // namespace tenon::cli
