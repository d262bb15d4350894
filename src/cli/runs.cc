// SPDX-License-Identifier: Apache-2.0
// Listings: `runs` for people, `ps` for what is going on, `history list` as the Workbench had it.
#include "engine/runs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/run_json.h"

namespace tenon::cli {
namespace {

constexpr size_t kMetricColumns = 4;

struct Options {
  std::string path;  // history list --path
  std::vector<std::string> states;
  std::string script, target;
  std::vector<std::string> tags;
  bool all_projects = false;
  bool hidden = false;
  size_t limit = 0;
};

Result<history::RunQuery> MakeQuery(Session& session, const Options& options) {
  history::RunQuery query;
  if (!options.path.empty()) session.globals.project = options.path;
  if (!options.all_projects) {
    TENON_TRY(query.project_id, session.ProjectId());
  }
  for (const std::string& name : options.states) {
    const auto state = run::StateFromName(name);
    if (!state) {
      return Invalid("there is no state " + name)
          .WithHint(
              "states are Starting, Preparing, Running, Finalizing, CancelRequested, Completed, "
              "Failed, Canceled");
    }
    query.states.push_back(*state);
  }
  for (const std::string& tag : options.tags) {
    const size_t equals = tag.find('=');
    query.tags.emplace_back(tag.substr(0, equals),
                            equals == std::string::npos ? "" : tag.substr(equals + 1));
  }
  query.script = options.script;
  query.target = options.target;
  query.include_hidden = options.hidden;
  query.limit = options.limit;
  return query;
}

json::Array ToJson(const std::vector<journal::RunView>& runs) {
  json::Array array;
  for (const journal::RunView& run : runs) array.push_back(RunToJson(run));
  return array;
}

// Metrics by name, then Duration, Run_id, Script_name, Start_time_utc, Status (reference § 12).
Table WorkbenchTable(const std::vector<journal::RunView>& runs) {
  std::set<std::string> names;
  for (const auto& run : runs) {
    for (const auto& [name, summary] : run.series) names.insert(name);
  }
  auto capital = [](std::string name) {
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z')
      name[0] = static_cast<char>(name[0] - 32);
    return ForTerminal(name);
  };
  std::vector<Column> columns;
  for (const std::string& name : names) {
    bool numeric = true;
    for (const auto& run : runs) {
      const auto found = run.series.find(name);
      if (found != run.series.end()) numeric &= run::IsNumber(found->second.last);
    }
    columns.push_back({capital(name), numeric});
  }
  for (const char* title : {"Duration", "Run_id", "Script_name", "Start_time_utc", "Status"}) {
    columns.push_back({title});
  }
  Table table(columns);
  for (const auto& run : runs) {
    std::vector<std::string> row;
    for (const std::string& name : names) {
      const auto found = run.series.find(name);
      row.push_back(found == run.series.end() ? "" : ShortMetric(found->second.last));
    }
    row.push_back(run.end_us ? FormatDuration(run.duration_us) : "");
    row.push_back(run.spec.id);
    row.push_back(ForTerminal(run.spec.script));
    row.push_back(run.start_us ? FormatUtc(run.start_us) : "");
    row.push_back(ShownState(run));
    table.Add(std::move(row));
  }
  return table;
}

// For people: number first, at most a few metrics that most runs have.
Table PeopleTable(const std::vector<journal::RunView>& runs, int64_t now_us) {
  std::map<std::string, size_t> uses;
  for (const auto& run : runs) {
    for (const auto& [name, summary] : run.series) {
      if (run::IsNumber(summary.last)) ++uses[name];
    }
  }
  std::vector<std::pair<std::string, size_t>> ranked(uses.begin(), uses.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ranked.size() > kMetricColumns) ranked.resize(kMetricColumns);
  std::vector<Column> columns = {{"Run", true}, {"Status"},  {"Script"},
                                 {"Target"},    {"Started"}, {"Duration"}};
  for (const auto& [name, count] : ranked) columns.push_back({ForTerminal(name), true});
  columns.push_back({"Id"});
  Table table(columns);
  for (const auto& run : runs) {
    std::string script = run.spec.script;
    for (const std::string& argument : run.spec.arguments) script += " " + argument;
    const int64_t since = run.start_us ? run.start_us : run.created_us;
    std::vector<std::string> row = {std::to_string(run.spec.number),
                                    ShownState(run),
                                    ForTerminal(script),
                                    ForTerminal(run.spec.target),
                                    HumanDuration(std::max<int64_t>(0, now_us - since)) + " ago",
                                    run.end_us ? HumanDuration(run.duration_us) : ""};
    for (const auto& [name, count] : ranked) {
      const auto found = run.series.find(name);
      row.push_back(found == run.series.end() ? "" : ShortMetric(found->second.last));
    }
    row.push_back(run.spec.id);
    table.Add(std::move(row));
  }
  return table;
}

Result<int> List(Session& session, const Options& options, bool workbench) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::Refresh(*context));
  TENON_TRY(const history::RunQuery query, MakeQuery(session, options));
  TENON_TRY(history::HistoryStore * store, context->History());
  TENON_TRY(const auto runs, store->List(query));
  if (runs.empty() && !session.WantsJson()) {
    PrintErr("no runs yet; `tenon submit train.py` starts one\n");
    return 0;
  }
  if (session.WantsJson()) {
    PrintListing(session, ToJson(runs), Table({}));
  } else {
    PrintListing(session, nullptr,
                 workbench ? WorkbenchTable(runs) : PeopleTable(runs, context->clock->NowUs()));
  }
  return 0;
}

void AddFilters(CLI::App& app, Options* options) {
  app.add_option("--status", options->states, "Only runs in this state (may be repeated)")
      ->type_name("STATE")
      ->allow_extra_args(false);
  app.add_option("--script", options->script, "Only runs of this script")->type_name("FILE");
  app.add_option("--target", options->target, "Only runs on this target")->type_name("NAME");
  app.add_option("--tag", options->tags, "Only runs with this tag: NAME or NAME=VALUE")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_flag("--all-projects", options->all_projects,
               "Runs of every project, not only of this one");
  app.add_flag("--hidden", options->hidden, "Hidden runs too");
  app.add_option("-n,--limit", options->limit, "At most so many, newest first")->type_name("N");
}

Result<int> ListLive(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::Refresh(*context));
  history::RunQuery query;
  query.unfinished_only = query.include_hidden = query.include_untracked = true;
  TENON_TRY(history::HistoryStore * store, context->History());
  TENON_TRY(const auto runs, store->List(query));
  Table table({{"Run", true},
               {"Project"},
               {"Status"},
               {"Script"},
               {"Target"},
               {"Pid", true},
               {"Since"},
               {"Id"}});
  const int64_t now = context->clock->NowUs();
  for (const auto& run : runs) {
    const int64_t since = run.start_us ? run.start_us : run.created_us;
    table.Add({std::to_string(run.spec.number), ForTerminal(run.spec.project), ShownState(run),
               ForTerminal(run.spec.script), ForTerminal(run.spec.target),
               run.script ? std::to_string(run.script->process.pid) : "",
               HumanDuration(std::max<int64_t>(0, now - since)), run.spec.id});
  }
  if (runs.empty() && !session.WantsJson()) {
    PrintErr("nothing is running\n");
    return 0;
  }
  PrintListing(session, ToJson(runs), table);
  return 0;
}

}  // namespace

Command RunsCommand() {
  return {{{"runs"}, {"history", "list"}},
          "List recorded runs, newest first",
          "",
          {"tenon runs", "tenon runs --status Failed -n 10", "tenon history list -o table",
           "tenon runs --json"},
          [](CLI::App& app, const std::vector<std::string>& words) -> Action {
            auto options = std::make_shared<Options>();
            AddFilters(app, options.get());
            app.add_option("--path", options->path, "The project's folder")->type_name("DIR");
            const bool workbench = words.front() == "history";
            return [options, workbench](Session& session) {
              return List(session, *options, workbench);
            };
          }};
}

Command PsCommand() {
  return {{{"ps"}},
          "Show the runs that are going on, in all projects",
          "Looks after each: the end of a run whose runner was killed is found out and recorded.",
          {"tenon ps", "tenon ps --json"},
          [](CLI::App&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return ListLive(session); };
          }};
}

}  // namespace tenon::cli
