// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

Result<int> Act(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  engine::Rebuilt rebuilt;
  {
    TerminalReporter reporter({});
    TENON_TRY(rebuilt, engine::RebuildHistory(*context, reporter));
  }
  if (session.WantsJson()) {
    json::Object object{{"runs", rebuilt.runs}};
    if (rebuilt.unreadable > 0) object["unreadable"] = rebuilt.unreadable;
    PrintListing(session, object, Table({}));
  } else {
    std::string text = "the index was made again; it has " + Count(rebuilt.runs, "run", "runs");
    if (rebuilt.unreadable > 0) {
      text += "; " + Count(rebuilt.unreadable, "run", "runs") + " can't be read";
    }
    PrintOut(text + "\n");
  }
  return rebuilt.unreadable > 0 ? 1 : 0;
}

}  // namespace

Command HistoryRebuildCommand() {
  return {{{"history", "rebuild"}},
          "Make the index of runs again from their journals",
          "The journals are the record; the index only finds things in them fast. Nothing is lost. "
          "Exit code 1: some run can't be read; the others are in the index.",
          {"tenon history rebuild"},
          [](OptionTable&, const std::vector<std::string>&) -> Action { return Act; }};
}

}  // namespace tenon::cli
