// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/members.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/runs/run_option.h"
#include "engine/outputs/artifacts.h"

namespace tenon::cli {
namespace {

struct Options {
  RunOption run;
  std::string artifact;
};

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const journal::RunView run, options.run.Get(session, ""));
  if (options.artifact.empty()) {
    PrintMembers(session, RunToJson(run));
    return 0;
  }
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::ReadArtifact(*context, run, options.artifact, [](std::string_view bytes) {
    PrintBytes(bytes);
    return Status();
  }));
  return 0;
}

}  // namespace

Command HistoryInfoCommand() {
  return {
      {{"history", "info"}},
      "Show the details of a run, or print one of its artifacts",
      "With --artifact: its exact bytes on standard output. driver_log is what the script printed, "
      "control_log what we did, outputs/… the files it left.",
      {"tenon history info -r myproject_1521077190506",
       "tenon history info -r last --artifact driver_log",
       "tenon history info -r 12 --artifact outputs/model.json > model.json"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        AddRunOption(table, &options->run);
        table.Add("-a,--artifact,--artifacts", &options->artifact, "Print this artifact instead")
            .Type("PATH");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
