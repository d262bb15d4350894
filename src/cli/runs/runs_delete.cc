// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

struct Options {
  std::vector<std::string> runs;
  bool force = false;
};

Result<int> Act(Session& session, const Options& options) {
  // Resolves all names before removing anything.
  std::vector<std::string> ids;
  for (const std::string& name : options.runs) {
    TENON_TRY(std::string id, session.ResolveRun(name));
    ids.push_back(std::move(id));
  }
  TENON_TRY(engine::Context * context, session.Context());
  json::Array deleted;
  for (const std::string& id : ids) {
    TENON_TRY_VOID(engine::DeleteRun(*context, id, options.force));
    deleted.emplace_back(json::EncodeBytes(id));
    if (!session.WantsJson()) PrintOut("deleted " + id + "\n");
  }
  if (session.WantsJson()) PrintJsonText(json::PrintPretty(deleted) + "\n");
  PrintErr("files that only " + std::string(ids.size() == 1 ? "this run" : "these runs") +
           " had are removed by `tenon gc`\n");
  return 0;
}

}  // namespace

Command RunsDeleteCommand() {
  return {{{"runs", "delete"}},
          "Remove finished runs from the record, logs and outputs included",
          "",
          {"tenon runs delete 12", "tenon runs delete 3 4 5"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("RUN", &options->runs, "Runs: ids, numbers, beginnings of ids").Required();
            table.Flag("--force", &options->force,
                       "Also a run whose outputs are not collected: the only copy goes with it");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
