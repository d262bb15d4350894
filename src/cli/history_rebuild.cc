// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/terminal_reporter.h"
#include "engine/runs.h"

namespace tenon::cli {
namespace {

Result<int> Act(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  uint64_t runs = 0;
  {
    TerminalReporter reporter({});
    TENON_TRY(runs, engine::RebuildHistory(*context, reporter));
  }
  if (session.WantsJson()) {
    PrintListing(session, json::Object{{"runs", runs}}, Table({}));
  } else {
    PrintOut("the index was made again; it has " + Count(runs, "run", "runs") + "\n");
  }
  return 0;
}

}  // namespace

Command HistoryRebuildCommand() {
  return {{{"history", "rebuild"}},
          "Make the index of runs again from their journals",
          "The journals are the record; the index only finds things in them fast. Nothing is lost.",
          {"tenon history rebuild"},
          [](CLI::App&, const std::vector<std::string>&) -> Action { return Act; }};
}

}  // namespace tenon::cli
