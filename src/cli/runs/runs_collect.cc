// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/outputs/outputs.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

struct Options {
  std::vector<std::string> runs;
};

Result<int> Act(Session& session, const Options& options) {
  std::vector<std::string> ids;
  for (const std::string& name : options.runs) {
    TENON_TRY(std::string id, session.ResolveRun(name));
    ids.push_back(std::move(id));
  }
  TENON_TRY(engine::Context * context, session.Context());
  json::Array done;
  std::optional<Error> first;
  for (const std::string& id : ids) {
    TerminalReporter reporter({.show_output = false});
    auto collected = engine::CollectLeftOutputs(*context, id, reporter);
    if (!collected.ok()) {
      // A run that can't be collected does not stop the others.
      if (ids.size() > 1) PrintErr("error: " + OneLine(collected.error().message) + "\n");
      if (!first) first = std::move(collected).error();
      continue;
    }
    done.emplace_back(json::EncodeBytes(id));
    if (session.WantsJson()) continue;
    TENON_TRY(const journal::RunView run, engine::GetRun(*context, id));
    PrintOut("the outputs of " + OneLine(id) +
             " are collected: " + Count(run.artifacts.size(), "file", "files") + "\n");
  }
  if (session.WantsJson()) PrintOut(json::PrintPretty(done) + "\n");
  FlushOut();
  if (first) return std::move(*first);
  return 0;
}

}  // namespace

Command RunsCollectCommand() {
  return {{{"runs", "collect"}},
          "Collect outputs that could not be collected when their run ended",
          "When a disk was full, or a file could not be read, the outputs of a run stay in its "
          "folder or its container, and nothing removes them. This takes them into the record, "
          "from another machine too. Outputs that are collected already are left as they are.",
          {"tenon runs collect 12", "tenon runs collect last"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("RUN", &options->runs, "Runs: ids, numbers, beginnings of ids").Required();
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
