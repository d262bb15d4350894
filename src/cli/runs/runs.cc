// SPDX-License-Identifier: Apache-2.0
// The listings `runs` (for people), `ps` (runs that are going on) and `history list` (as in the
// Workbench).
#include "engine/run/runs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "base/clock.h"
#include "base/json_limits.h"
#include "base/shown_bytes.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/print/terminal_reporter.h"

namespace tenon::cli {
namespace {

constexpr size_t kMetricColumns = 4;
// The most memory, in bytes, of a list that --query is applied to: some 50,000 runs.
constexpr uint64_t kMostQueried = 96u << 20;
// Limits of a table: metrics shown, metrics read per run, and different metrics in the table.
constexpr size_t kWorkbenchMetrics = 64;
constexpr size_t kMetricsOfRun = 1000;
constexpr size_t kMetricsOfTable = 10'000;
constexpr size_t kCellBytes = 256;
constexpr size_t kTextBytes = 2048;       // of a command line and the like
constexpr size_t kMostCells = 48u << 20;  // bytes of all metric cells of a table

constexpr const char* kUnreadableHint =
    "hint: `tenon runs delete ID` removes a run that can't be read; `tenon history rebuild` reads "
    "its folder again\n";

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
  // The script, target and tags of an unreadable run are unknown, so filters leave it out.
  query.include_unreadable = options.states.empty() && options.script.empty() &&
                             options.target.empty() && options.tags.empty();
  query.limit = options.limit;
  return query;
}

// Prints each run as JSON while the store reads it: a history may have a hundred thousand runs.
Result<int> PrintJson(const Session& session, history::HistoryStore& store,
                      const history::RunQuery& query) {
  unsigned char buffer[16 << 10];
  JsonList list(session);
  uint64_t held = 0;
  TENON_TRY_VOID(store.Visit(query, [&](const history::RunRow& run) -> Status {
    // A new pool for each run: a released pool keeps doubling the size of its requests.
    json::Pool memory(buffer);
    const json::Value value = RunToJson(run, &memory);
    if (session.query) held += json::MemoryOf(value);
    if (held <= kMostQueried) {
      list.Add(value);
      return {};
    }
    return Invalid("--query needs all of the list at once, and this is more than it takes")
        .WithHint("`tenon runs -n N` asks only the N newest; without --query there is no limit");
  }));
  list.End();
  return 0;
}

// The beginning of a text. A table holds all rows until it is printed, so cells are limited.
std::string Beginning(std::string_view text, size_t most = kTextBytes) {
  return text.size() <= most ? OneLine(text) : OneLine(text.substr(0, most)) + "…";
}

// The metrics of some runs as table cells, collected before the columns are known.
class MetricCells {
 public:
  void Add(const journal::RunView& run) {
    auto& row = rows_.emplace_back();
    for (const auto& [name, summary] : run.series) {
      const auto known = columns_.find(name);
      if (row.size() == kMetricsOfRun || bytes_ >= kMostCells ||
          (known == columns_.end() && columns_.size() == kMetricsOfTable)) {
        left_out_ = true;
        continue;
      }
      if (known == columns_.end()) bytes_ += sizeof(MetricColumn) + ShownBytes(name);
      MetricColumn& column = known != columns_.end()
                                 ? known->second
                                 : columns_.try_emplace(name, columns_.size()).first->second;
      const bool number = run::IsNumber(summary.last);
      column.numeric &= number;
      column.numbers += number;
      ++column.runs;
      std::string cell = Beginning(ShortMetric(summary.last), kCellBytes);
      bytes_ += sizeof row.front() + cell.size();
      row.emplace_back(column.index, std::move(cell));
    }
  }
  // The metrics that most runs have, at most `limit`, in alphabetical order.
  std::vector<std::string> CommonNames(size_t limit) {
    std::vector<std::string> names = Names();
    if (names.size() <= limit) return names;
    left_out_ = true;
    std::ranges::stable_sort(names, [&](const auto& a, const auto& b) {
      return columns_.at(a).runs > columns_.at(b).runs;
    });
    names.resize(limit);
    std::ranges::sort(names);
    return names;
  }
  // Whether the table leaves out metrics.
  bool left_out() const { return left_out_; }
  std::vector<std::string> Names() const {  // alphabetical
    std::vector<std::string> names;
    for (const auto& [name, column] : columns_) names.push_back(name);
    return names;
  }
  size_t Numbers(const std::string& name) const { return columns_.at(name).numbers; }
  bool Numeric(const std::string& name) const { return columns_.at(name).numeric; }
  // The cells of a row for these metrics; "" for a metric that the run does not have.
  std::vector<std::string> Row(size_t row, const std::vector<std::string>& names) const {
    std::vector<std::string> cells(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const size_t wanted = columns_.at(names[i]).index;
      for (const auto& [index, cell] : rows_[row]) {
        if (index == wanted) cells[i] = cell;
      }
    }
    return cells;
  }

 private:
  struct MetricColumn {
    explicit MetricColumn(size_t position) : index(position) {}
    size_t index;
    bool numeric = true;
    size_t numbers = 0;
    size_t runs = 0;
  };
  bool left_out_ = false;
  size_t bytes_ = 0;  // approximate memory use
  std::map<std::string, MetricColumn> columns_;
  std::vector<std::vector<std::pair<size_t, std::string>>> rows_;
};

std::string Capital(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return OneLine(name);
}

// The Workbench's table (reference § 12): the metrics, then five columns.
Result<Table> WorkbenchTable(history::HistoryStore& store, const history::RunQuery& query,
                             bool* unreadable) {
  MetricCells metrics;
  std::vector<std::vector<std::string>> rest;
  TENON_TRY_VOID(store.Visit(query, [&](const history::RunRow& run) {
    metrics.Add(run);
    rest.push_back({run.end_us ? FormatDuration(run.duration_us) : "", run.spec.id,
                    Beginning(run.spec.script), run.start_us ? FormatUtc(run.start_us) : "",
                    Beginning(ShownState(run))});
    *unreadable |= !run.unreadable.empty();
    return Status();
  }));
  const std::vector<std::string> names = metrics.CommonNames(kWorkbenchMetrics);
  if (metrics.left_out()) PrintErr("note: the table leaves metrics out; --json has all of them\n");
  std::vector<Column> columns;
  for (const std::string& name : names) columns.push_back({Capital(name), metrics.Numeric(name)});
  for (const char* title : {"Duration", "Run_id", "Script_name", "Start_time_utc", "Status"}) {
    columns.push_back({title});
  }
  Table table(columns);
  for (size_t i = 0; i < rest.size(); ++i) {
    std::vector<std::string> row = metrics.Row(i, names);
    std::move(rest[i].begin(), rest[i].end(), std::back_inserter(row));
    table.Add(std::move(row));
  }
  return table;
}

// The table for people: the run's number first, and the few metrics that most runs have.
Result<Table> PeopleTable(history::HistoryStore& store, const history::RunQuery& query,
                          int64_t now_us, bool* unreadable) {
  MetricCells metrics;
  std::vector<std::vector<std::string>> rows;
  TENON_TRY_VOID(store.Visit(query, [&](const history::RunRow& run) {
    metrics.Add(run);
    std::string script = run.spec.script;
    for (const std::string& argument : run.spec.arguments) {
      if (script.size() > kTextBytes) break;
      script += " ";
      script += std::string_view(argument).substr(0, kTextBytes);
    }
    const int64_t since = run.start_us ? run.start_us : run.created_us;
    rows.push_back({run.untold ? "" : std::to_string(run.spec.number), Beginning(ShownState(run)),
                    Beginning(script), Beginning(run.spec.target),
                    HumanDuration(std::max<int64_t>(0, now_us - since)) + " ago",
                    run.end_us ? HumanDuration(run.duration_us) : "", run.spec.id});
    *unreadable |= !run.unreadable.empty();
    return Status();
  }));
  std::vector<std::string> names = metrics.Names();
  std::erase_if(names, [&](const std::string& name) { return metrics.Numbers(name) == 0; });
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return metrics.Numbers(a) > metrics.Numbers(b);
  });
  if (names.size() > kMetricColumns) names.resize(kMetricColumns);
  std::vector<Column> columns = {{"Run", true}, {"Status"},  {"Script"},
                                 {"Target"},    {"Started"}, {"Duration"}};
  for (const std::string& name : names) columns.push_back({OneLine(name), true});
  columns.push_back({"Id"});
  Table table(columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells = metrics.Row(i, names);
    rows[i].insert(rows[i].end() - 1, std::make_move_iterator(cells.begin()),
                   std::make_move_iterator(cells.end()));
    table.Add(std::move(rows[i]));
  }
  return table;
}

Result<int> List(Session& session, const Options& options, bool workbench) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::Refresh(*context));
  TENON_TRY(const history::RunQuery query, MakeQuery(session, options));
  TENON_TRY(history::HistoryStore * store, context->History());
  if (session.WantsJson()) return PrintJson(session, *store, query);
  bool unreadable = false;
  TENON_TRY(const Table table,
            workbench ? WorkbenchTable(*store, query, &unreadable)
                      : PeopleTable(*store, query, context->clock->NowUs(), &unreadable));
  if (table.empty()) {
    PrintErr("no runs yet; `tenon submit train.py` starts one\n");
    return 0;
  }
  PrintListing(session, nullptr, table);
  if (unreadable) PrintErr(kUnreadableHint);
  return 0;
}

void AddFilters(OptionTable& table, Options* options) {
  table.Add("--status", &options->states, "Only runs in this state (may be repeated)")
      .Type("STATE")
      .OneEach();
  table.Add("--script", &options->script, "Only runs of this script").Type("FILE");
  table.Add("--target", &options->target, "Only runs on this target").Type("NAME");
  table.Add("--tag", &options->tags, "Only runs with this tag: NAME or NAME=VALUE")
      .Type("TAG")
      .OneEach();
  table.Flag("--all-projects", &options->all_projects,
             "Runs of every project, not only of this one");
  table.Flag("--hidden", &options->hidden, "Hidden runs too");
  table.Add("-n,--limit", &options->limit, "At most so many, newest first").Type("N");
}

Result<int> ListLive(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  TerminalReporter reporter({.show_output = false});
  TENON_TRY_VOID(engine::Refresh(*context, engine::Look::kThere, &reporter));
  history::RunQuery query;
  query.unfinished_only = query.include_hidden = query.include_untracked = true;
  query.include_unreadable = true;
  TENON_TRY(history::HistoryStore * store, context->History());
  if (session.WantsJson()) return PrintJson(session, *store, query);
  Table table({{"Run", true},
               {"Project"},
               {"Status"},
               {"Script"},
               {"Target"},
               {"Pid", true},
               {"Since"},
               {"Id"}});
  const int64_t now = context->clock->NowUs();
  bool unreadable = false;
  TENON_TRY_VOID(store->Visit(query, [&](const history::RunRow& run) {
    const int64_t since = run.start_us ? run.start_us : run.created_us;
    table.Add({run.untold ? "" : std::to_string(run.spec.number), Beginning(run.spec.project),
               Beginning(ShownState(run)), Beginning(run.spec.script), Beginning(run.spec.target),
               run.script ? std::to_string(run.script->process.pid) : "",
               HumanDuration(std::max<int64_t>(0, now - since)), run.spec.id});
    unreadable |= !run.unreadable.empty();
    return Status();
  }));
  if (table.empty()) {
    PrintErr("nothing is running\n");
    return 0;
  }
  PrintListing(session, nullptr, table);
  if (unreadable) PrintErr(kUnreadableHint);
  return 0;
}

}  // namespace

Command RunsCommand() {
  return {{{"runs"}, {"history", "list"}},
          "List recorded runs, newest first",
          "",
          {"tenon runs", "tenon runs --status Failed -n 10", "tenon history list -o table",
           "tenon runs --json"},
          [](OptionTable& table, const std::vector<std::string>& words) -> Action {
            auto options = std::make_shared<Options>();
            AddFilters(table, options.get());
            table.Add("--path", &options->path, "The project's folder").Type("DIR");
            const bool workbench = words.front() == "history";
            return [options, workbench](Session& session) {
              return List(session, *options, workbench);
            };
          }};
}

Command PsCommand() {
  return {{{"ps"}},
          "Show the runs that are going on, in all projects",
          "Looks after each: the end of a run whose runner was killed is found out and recorded.\n"
          "Machines are asked all at once; one that gives no sign of life is named.",
          {"tenon ps", "tenon ps --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return ListLive(session); };
          }};
}

}  // namespace tenon::cli
