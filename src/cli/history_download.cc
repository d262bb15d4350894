// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/run_option.h"
#include "engine/artifacts.h"

namespace tenon::cli {
namespace {

struct Options {
  RunOption run;
  std::string folder;
  std::string artifact;
  bool overwrite = false;
};

Result<int> Act(Session& session, const Options& options) {
  if (options.folder.empty()) {
    return Invalid("into which folder?").WithHint("-d DIR names it; it is made if needed");
  }
  TENON_TRY(const journal::RunView run, options.run.GoAndGet(session, ""));
  if (!run::IsFinal(run.state)) {
    PrintErr("note: " + run.spec.id + " is " + std::string(run::StateName(run.state)) +
             ", as far as is known here; its outputs are collected when it ends\n");
  }
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto written, engine::DownloadArtifacts(*context, run, options.artifact,
                                                          options.folder, options.overwrite));
  json::Array list;
  Table table({{"File"}});
  for (const std::string& path : written) {
    list.emplace_back(json::EncodeBytes(path));
    table.Add({ForTerminal(path)});
  }
  if (session.WantsJson() || session.globals.output == "tsv") {
    PrintListing(session, list, table);
  } else {
    PrintOut(table.ToTsv());  // a path a line, without a head
  }
  return 0;
}

}  // namespace

Command HistoryDownloadCommand() {
  return {
      {{"history", "download"}},
      "Write the artifacts of a run into a folder",
      "Prints the files it wrote. Refuses to replace one that is there, unless --overwrite. Of a "
      "run on another machine, looks there first.",
      {"tenon history download -r last -d results",
       "tenon history download -r 12 -d results --artifact outputs/model.json --overwrite"},
      [](CLI::App& app, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        AddRunOption(app, &options->run);
        app.add_option("-d,--directory", options->folder, "The folder; made if needed")
            ->type_name("DIR");
        app.add_option("-a,--artifact", options->artifact, "Only this artifact")->type_name("PATH");
        app.add_flag("--overwrite", options->overwrite, "Replace files that are there");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
