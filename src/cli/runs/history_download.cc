// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/runs/dot_files.h"
#include "cli/runs/holds_project.h"
#include "cli/runs/run_option.h"
#include "engine/outputs/artifacts.h"
#include "engine/outputs/outputs.h"
#include "engine/run/runs.h"
#include "run/artifact_name.h"

namespace tenon::cli {
namespace {

struct Options {
  RunOption run;
  std::string folder;
  std::string artifact;
  bool overwrite = false, dot_files = false;
};

// Fails if the folder for the outputs would be a project itself.
Status CheckOutputsAreNoProject(Session& session, const std::string& folder) {
  const std::string outputs = JoinPath(folder, "outputs");
  TENON_TRY(const bool holds_project, HoldsProject(session, outputs));
  if (!holds_project) return {};
  return Invalid(OneLine(outputs) + " is a project, and the outputs would be written into it")
      .WithHint("give another folder with -d");
}

Result<int> Act(Session& session, const Options& options) {
  if (options.folder.empty()) {
    return Invalid("into which folder?").WithHint("-d DIR names it; it is made if needed");
  }
  TENON_TRY(journal::RunView run, options.run.GoAndGet(session, ""));
  if (!run::IsFinal(run.state)) {
    PrintErr("note: " + run.spec.id + " is " + std::string(run::StateName(run.state)) +
             ", as far as is known here; its outputs are collected when it ends\n");
  }
  TENON_TRY(engine::Context * context, session.Context());
  // Writes what is here even if the collecting fails, and reports the failure at the end.
  Status whole;
  if (engine::HasOutputsLeft(*context, run)) {
    TerminalReporter reporter({.show_output = false});
    whole = engine::CollectLeftOutputs(*context, run.spec.id, reporter);
    TENON_TRY(run, engine::GetRun(*context, run.spec.id));
  }
  TENON_TRY(const bool holds_project, HoldsProject(session, options.folder));
  const bool outputs = options.artifact.empty() || run::IsOutputName(options.artifact);
  if (outputs && !holds_project) {
    TENON_TRY_VOID(CheckOutputsAreNoProject(session, options.folder));
  }
  TENON_TRY(const engine::Downloaded done,
            engine::DownloadArtifacts(*context, run,
                                      {.folder = options.folder,
                                       .only = options.artifact,
                                       .overwrite = options.overwrite,
                                       .holds_project = holds_project,
                                       .dot_files = options.dot_files}));
  json::Array list;
  Table table({{"File"}});
  for (const std::string& path : done.written) {
    list.emplace_back(json::EncodeBytes(path));
    table.Add({OneLine(path)});
  }
  if (session.WantsJson() || session.globals.output == "tsv") {
    PrintListing(session, list, table);
  } else {
    PrintData(table.ToTsv());  // one path per line, without a header
  }
  if (!done.logs_left.empty()) {
    PrintErr("note: " + OneLine(options.folder) +
             " holds a project, in which only outputs/ is written to; the logs are left out (" +
             Join(done.logs_left, ", ") + ")\n");
  }
  SayDotFilesLeft(done.dots_left);
  FlushOut();
  if (!whole.ok()) return std::move(whole).error();
  return 0;
}

}  // namespace

Command HistoryDownloadCommand() {
  return {
      {{"history", "download"}},
      "Write the artifacts of a run into a folder",
      "Prints the files it wrote. Refuses to replace one that is there, unless --overwrite. In a "
      "folder that holds a project it writes below outputs/ only. Of a run on another machine, "
      "looks there first. Outputs that could not be collected when the run ended are collected "
      "now; if that fails, the exit code is not 0.",
      {"tenon history download -r last -d results",
       "tenon history download -r 12 -d results --artifact outputs/model.json --overwrite"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        AddRunOption(table, &options->run);
        table.Add("-d,--directory", &options->folder, "The folder; made if needed").Type("DIR");
        table.Add("-a,--artifact", &options->artifact, "Only this artifact").Type("PATH");
        table.Flag("--overwrite", &options->overwrite, "Replace files that are there");
        table.Flag("--dot-files", &options->dot_files,
                   "In a project's folder, also write files whose names begin with a dot");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
