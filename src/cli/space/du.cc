// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/space/space.h"

namespace tenon::cli {
namespace {

struct Options {
  size_t limit = 10;
};

uint64_t TotalBytes(const engine::SpaceUse& use) {
  return use.objects_bytes + use.journals_bytes + use.work_bytes + use.index_bytes +
         use.environment_bytes + use.other_bytes;
}

json::Object ToJson(const engine::SpaceUse& use, const std::string& home) {
  json::Object object{{"home", json::EncodeBytes(home)}, {"bytes", TotalBytes(use)}};
  object["objects"] = json::Object{{"bytes", use.objects_bytes}, {"count", use.object_count}};
  object["assets"] = json::Object{{"bytes", use.asset_bytes}, {"count", use.asset_count}};
  object["journals"] = json::Object{{"bytes", use.journals_bytes}};
  object["work"] = json::Object{{"bytes", use.work_bytes}};
  object["index"] = json::Object{{"bytes", use.index_bytes}};
  object["environments"] = json::Object{{"bytes", use.environment_bytes}};
  object["other"] = json::Object{{"bytes", use.other_bytes}};
  json::Array runs;
  for (const auto& run : use.runs) {
    runs.push_back(json::Object{{"run_id", json::EncodeBytes(run.run_id)},
                                {"journal_bytes", run.journal_bytes},
                                {"work_bytes", run.work_bytes}});
  }
  object["runs"] = std::move(runs);
  return object;
}

void PrintTables(const Session& session, const engine::SpaceUse& use, size_t limit) {
  Table parts({{"Size"}, {"What"}});
  parts.Add(
      {HumanBytes(use.objects_bytes),
       "files of snapshots and outputs (" + Count(use.object_count, "object", "objects") + ")"});
  if (use.asset_count > 0) {
    parts.Add({HumanBytes(use.asset_bytes),
               "of these, contents of " + Count(use.asset_count, "asset", "assets")});
  }
  parts.Add(
      {HumanBytes(use.journals_bytes), "journals of " + Count(use.runs.size(), "run", "runs")});
  parts.Add({HumanBytes(use.work_bytes), "run directories that were kept"});
  parts.Add({HumanBytes(use.index_bytes), "index"});
  if (use.environment_bytes > 0) {
    parts.Add({HumanBytes(use.environment_bytes),
               "environments and downloaded packages; images are the engine's (`tenon env list`)"});
  }
  parts.Add({HumanBytes(use.other_bytes), "runners and caches"});
  parts.Add({HumanBytes(TotalBytes(use)), "all"});
  PrintListing(session, nullptr, parts);
  if (use.runs.empty() || limit == 0 || session.globals.output == "tsv") return;
  Table runs({{"Journal"}, {"Directory"}, {"Run"}});
  for (size_t i = 0; i < std::min(limit, use.runs.size()); ++i) {
    const auto& run = use.runs[i];
    runs.Add({HumanBytes(run.journal_bytes), HumanBytes(run.work_bytes), run.run_id});
  }
  PrintOut("\n");
  PrintListing(session, nullptr, runs);
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(engine::Context * context, session.Context());
  engine::SpaceUse use;
  {
    TerminalReporter reporter({});
    TENON_TRY(use, engine::MeasureSpace(*context, reporter));
  }
  if (session.WantsJson()) {
    PrintListing(session, ToJson(use, context->home.root()), Table({}));
  } else {
    PrintTables(session, use, options.limit);
  }
  return 0;
}

}  // namespace

Command DuCommand() {
  return {{{"du"}},
          "Show how much disk space the record takes, and the largest runs",
          "`tenon gc` gives back what nothing needs any more.",
          {"tenon du", "tenon du -n 50", "tenon du --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("-n,--limit", &options->limit, "So many of the largest runs (10)").Type("N");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
