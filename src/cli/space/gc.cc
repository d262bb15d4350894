// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/runs/watch.h"
#include "engine/space/space.h"

namespace tenon::cli {
namespace {

struct Options {
  bool dry_run = false;
  std::string keep_work;
};

Result<int> Act(Session& session, const Options& options) {
  engine::GcOptions gc;
  gc.dry_run = options.dry_run;
  TENON_TRY(const auto keep_work, ParseTime("--keep-work", options.keep_work));
  if (keep_work) gc.keep_work_us = *keep_work;
  TENON_TRY(engine::Context * context, session.Context());
  engine::GcResult result;
  {
    TerminalReporter reporter({});
    TENON_TRY(result, engine::CollectGarbage(*context, gc, reporter));
  }
  if (session.WantsJson()) {
    json::Array containers, kept;
    for (const std::string& name : result.containers) {
      containers.emplace_back(json::EncodeBytes(name));
    }
    for (const run::Kept& one : result.kept) {
      kept.push_back(
          json::Object{{"name", json::EncodeBytes(one.name)}, {"why", json::EncodeBytes(one.why)}});
    }
    PrintListing(session,
                 json::Object{{"dry_run", options.dry_run},
                              {"work_folders", result.work_folders},
                              {"containers", std::move(containers)},
                              {"leftovers", result.leftovers},
                              {"kept", std::move(kept)},
                              {"bytes_freed", result.bytes_freed}},
                 Table({}));
    return 0;
  }
  PrintOut((options.dry_run ? "would free " : "freed ") + HumanBytes(result.bytes_freed) + ": " +
           Count(result.work_folders, "run directory", "run directories") + ", " +
           (result.containers.empty()
                ? ""
                : Count(result.containers.size(), "container", "containers") + ", ") +
           Count(result.leftovers, "remains of a killed submit", "remains of killed submits") +
           (options.dry_run ? "; files that no run names any more are not counted\n"
                            : ", and files that no run names any more\n"));
  FlushOut();
  for (const run::Kept& one : result.kept) {
    PrintErr(OneLine(one.name) + " is kept: " + OneLine(one.why) + "\n");
  }
  return 0;
}

}  // namespace

Command GcCommand() {
  return {
      {{"gc"}},
      "Give back disk space that nothing needs any more",
      "Removes files that no recorded run names, run directories of failed runs after 7 days, "
      "containers of runs that are over, and what killed submits left. A run that is going on "
      "is never touched, and outputs that were not collected are kept.",
      {"tenon gc", "tenon gc --dry-run", "tenon gc --keep-work 1d"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Flag("--dry-run", &options->dry_run, "Remove nothing, say what would go");
        table.Add("--keep-work", &options->keep_work, "Keep run directories younger than this (7d)")
            .Type("TIME");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
