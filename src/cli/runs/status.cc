// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/runs/run_option.h"

namespace tenon::cli {
namespace {

Result<int> Act(Session& session, const RunOption& option) {
  TENON_TRY(const journal::RunView run, option.GoAndGet(session, "last"));
  if (session.WantsJson()) {
    PrintValue(session, RunToJson(run));
    return 0;
  }
  // Programs of the Workbench's time parse the second word of the RunId line and the third of the
  // state line.
  std::string text = "RunId: " + run.spec.id + "\nstate : " + ShownState(run) + "\n";
  if (!run.reason.empty()) text += "reason : " + Hanging(run.reason) + "\n";
  if (run.end && run.end->exit_code)
    text += "exit code : " + std::to_string(*run.end->exit_code) + "\n";
  if (run.duration_us > 0) text += "duration : " + FormatDuration(run.duration_us) + "\n";
  PrintOut(text);
  return 0;
}

}  // namespace

Command StatusCommand() {
  return {{{"status"}, {"experiment", "status"}},
          "Go and look how a run is",
          "",
          {"tenon status", "tenon experiment status --run myproject_1521077190506 --target local"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto option = std::make_shared<RunOption>();
            AddRunOption(table, option.get());
            return [option](Session& session) { return Act(session, *option); };
          }};
}

}  // namespace tenon::cli
