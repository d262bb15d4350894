// SPDX-License-Identifier: Apache-2.0
#include "engine/run/compare.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/print/show_page.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

constexpr size_t kFilesShown = 20;

struct Options {
  std::vector<std::string> words, runs;
  bool all = false;
};

struct Row {
  std::string name;
  std::optional<std::string> first, second;  // nullopt: this run has no such row
  bool Differs() const { return first != second; }
};

struct Comparison {
  journal::RunView first, second;
  std::vector<Row> settings, parameters;
  engine::FileChanges files, outputs;
};

std::vector<Row> Settings(const journal::RunView& a, const journal::RunView& b) {
  auto exit_code = [](const journal::RunView& run) {
    return run.end && run.end->exit_code ? std::to_string(*run.end->exit_code) : "";
  };
  auto duration = [](const journal::RunView& run) {
    return run.end_us ? FormatDuration(run.duration_us) : "";
  };
  std::vector<Row> rows = {
      {"Status", ShownState(a), ShownState(b)},
      {"Reason", a.reason, b.reason},
      {"Exit code", exit_code(a), exit_code(b)},
      {"Duration", duration(a), duration(b)},
      {"Script", CommandLine(a), CommandLine(b)},
      {"Target", a.spec.target, b.spec.target},
      {"Run configuration", a.spec.run_configuration, b.spec.run_configuration},
      {"Python", a.spec.python, b.spec.python},
      {"Git", GitLine(a), GitLine(b)},
      {"CommitId", a.spec.kept_tree.substr(0, 40), b.spec.kept_tree.substr(0, 40)},
      {"Tenon", a.tenon_version, b.tenon_version},
  };
  const std::map<std::string, std::string> left(a.spec.environment.begin(),
                                                a.spec.environment.end());
  const std::map<std::string, std::string> right(b.spec.environment.begin(),
                                                 b.spec.environment.end());
  for (Row& row : rows) {  // in these rows, empty means not set
    if (row.first->empty()) row.first.reset();
    if (row.second->empty()) row.second.reset();
  }
  std::set<std::string> names;
  for (const auto* side : {&left, &right}) {
    for (const auto& [name, value] : *side) names.insert(name);
  }
  for (const std::string& name : names) {
    const auto l = left.find(name), r = right.find(name);
    Row row{"EnvironmentVariables." + name, std::nullopt, std::nullopt};
    if (l != left.end()) row.first = l->second;
    if (r != right.end()) row.second = r->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> Parameters(const journal::RunView& a, const journal::RunView& b) {
  std::map<std::string, Row> rows;
  for (const auto& [name, value] : journal::ParametersOf(a))
    rows[name] = {name, value, std::nullopt};
  for (const auto& [name, value] : journal::ParametersOf(b)) {
    rows[name].name = name;
    rows[name].second = value;
  }
  std::vector<Row> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

// The last values of a metric in both runs, and the second minus the first.
struct MetricRow {
  std::string name;
  const run::MetricValue* first = nullptr;
  const run::MetricValue* second = nullptr;
  std::optional<double> difference;
};

std::vector<MetricRow> Metrics(const Comparison& comparison) {
  std::map<std::string, MetricRow> rows;
  for (const auto& [name, summary] : comparison.first.series) rows[name].first = &summary.last;
  for (const auto& [name, summary] : comparison.second.series) rows[name].second = &summary.last;
  std::vector<MetricRow> list;
  for (auto& [name, row] : rows) {
    row.name = name;
    if (row.first && row.second && run::IsNumber(*row.first) && run::IsNumber(*row.second)) {
      row.difference = run::AsDouble(*row.second) - run::AsDouble(*row.first);
    }
    list.push_back(row);
  }
  return list;
}

std::string SignedNumber(double number) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%+.6g", number);
  return number == 0 ? "0" : buffer;
}

json::Value TextOrNull(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return json::Value(json::EncodeBytes(*text));
}

json::Array RowsToJson(const std::vector<Row>& rows) {
  json::Array array;
  for (const Row& row : rows) {
    array.push_back(json::Object{{"name", json::EncodeBytes(row.name)},
                                 {"first", TextOrNull(row.first)},
                                 {"second", TextOrNull(row.second)},
                                 {"differs", row.Differs()}});
  }
  return array;
}

json::Object ChangesToJson(const engine::FileChanges& changes) {
  auto list = [](const std::vector<std::string>& paths) {
    json::Array array;
    for (const std::string& path : paths) array.emplace_back(json::EncodeBytes(path));
    return array;
  };
  json::Object object{{"added", list(changes.added)},
                      {"removed", list(changes.removed)},
                      {"changed", list(changes.changed)}};
  if (changes.more) object["more"] = true;
  return object;
}

json::Object ToJson(const Comparison& comparison) {
  json::Array metrics;
  for (const MetricRow& row : Metrics(comparison)) {
    metrics.push_back(json::Object{
        {"name", json::EncodeBytes(row.name)},
        {"first", row.first ? MetricToJson(*row.first) : json::Value(nullptr)},
        {"second", row.second ? MetricToJson(*row.second) : json::Value(nullptr)},
        {"difference", row.difference ? json::Value(*row.difference) : json::Value(nullptr)}});
  }
  return {{"first", json::EncodeBytes(comparison.first.spec.id)},
          {"second", json::EncodeBytes(comparison.second.spec.id)},
          {"settings", RowsToJson(comparison.settings)},
          {"parameters", RowsToJson(comparison.parameters)},
          {"metrics", std::move(metrics)},
          {"files", ChangesToJson(comparison.files)},
          {"outputs", ChangesToJson(comparison.outputs)}};
}

class Page {
 public:
  Page(const Comparison& comparison, bool all) : comparison_(comparison), all_(all) {}

  std::string ToText() const {
    std::string text = comparison_.first.spec.id + "  →  " + comparison_.second.spec.id + "\n";
    text += Section("Settings", comparison_.settings);
    text += Section("Parameters", comparison_.parameters);
    text += MetricSection();
    text += ChangeSection("Files", comparison_.files);
    text += ChangeSection("Outputs", comparison_.outputs);
    return text;
  }

 private:
  static std::string Heading(const std::string& title) {
    return "\n" + Styled(title, Style::kBold, ColorOut()) + "\n";
  }
  static std::string Shown(const std::optional<std::string>& value) {
    if (!value) return "";
    return value->empty() ? "''" : OneLine(*value);
  }
  static int Width() { return ::isatty(STDOUT_FILENO) == 1 ? TerminalWidth() : 0; }
  std::string Number(const journal::RunView& run) const {
    const bool same_project =
        comparison_.first.spec.project_id == comparison_.second.spec.project_id;
    return same_project ? "[" + std::to_string(run.spec.number) + "]" : run.spec.id;
  }

  std::string Section(const std::string& title, const std::vector<Row>& rows) const {
    Table table({{"Name"}, {Number(comparison_.first)}, {Number(comparison_.second)}});
    size_t equal = 0;
    for (const Row& row : rows) {
      equal += !row.Differs();
      if (!all_ && !row.Differs()) continue;
      table.Add({OneLine(row.name), Shown(row.first), Shown(row.second)});
    }
    if (rows.empty()) return "";
    std::string text = Heading(title) + (table.empty() ? "" : table.ToText(Width(), false));
    if (!all_ && equal > 0) text += std::to_string(equal) + " equal\n";
    return text;
  }

  std::string MetricSection() const {
    Table table({{"Metric"},
                 {Number(comparison_.first), true},
                 {Number(comparison_.second), true},
                 {"Difference", true}});
    for (const MetricRow& row : Metrics(comparison_)) {
      table.Add({OneLine(row.name), row.first ? MetricCell(*row.first) : "",
                 row.second ? MetricCell(*row.second) : "",
                 row.difference ? SignedNumber(*row.difference) : ""});
    }
    return table.empty() ? "" : Heading("Metrics") + table.ToText(Width(), false);
  }

  std::string ChangeSection(const std::string& title, const engine::FileChanges& changes) const {
    std::string text = Heading(title);
    if (changes.empty()) return text + "no difference\n";
    size_t left = all_ ? static_cast<size_t>(-1) : kFilesShown;
    size_t hidden = 0;
    auto list = [&](const char* mark, const std::vector<std::string>& paths) {
      for (const std::string& path : paths) {
        if (left == 0) {
          ++hidden;
          continue;
        }
        --left;
        text += std::string(mark) + " " + OneLine(path) + "\n";
      }
    };
    list("changed", changes.changed);
    list("added  ", changes.added);
    list("removed", changes.removed);
    if (changes.more) text += "and more than can be named\n";
    if (hidden > 0) text += "and " + std::to_string(hidden) + " more (--all)\n";
    return text;
  }

  const Comparison& comparison_;
  bool all_;
};

// One flat table for programs: kind, name, first, second.
Table Flat(const Comparison& comparison) {
  Table table({{"Kind"}, {"Name"}, {"First"}, {"Second"}});
  for (const Row& row : comparison.settings) {
    table.Add({"setting", row.name, row.first.value_or(""), row.second.value_or("")});
  }
  for (const Row& row : comparison.parameters) {
    table.Add({"parameter", row.name, row.first.value_or(""), row.second.value_or("")});
  }
  for (const MetricRow& row : Metrics(comparison)) {
    table.Add({"metric", row.name, row.first ? run::FormatMetric(*row.first) : "",
               row.second ? run::FormatMetric(*row.second) : ""});
  }
  auto add = [&](const std::string& kind, const engine::FileChanges& changes) {
    for (const auto& path : changes.changed) table.Add({kind, path, "present", "changed"});
    for (const auto& path : changes.added) table.Add({kind, path, "", "present"});
    for (const auto& path : changes.removed) table.Add({kind, path, "present", ""});
  };
  add("file", comparison.files);
  add("output", comparison.outputs);
  return table;
}

Result<int> Act(Session& session, const Options& options) {
  std::vector<std::string> names = options.words;
  names.insert(names.end(), options.runs.begin(), options.runs.end());
  if (names.size() != 2) {
    return Invalid("two runs are compared, " + std::to_string(names.size()) + " were named")
        .WithHint("`tenon compare 12 last` compares run 12 with the newest one");
  }
  TENON_TRY(engine::Context * context, session.Context());
  Comparison comparison;
  TENON_TRY(const std::string first, session.ResolveRun(names[0]));
  TENON_TRY(const std::string second, session.ResolveRun(names[1]));
  TENON_TRY(comparison.first, engine::GetRun(*context, first));
  TENON_TRY(comparison.second, engine::GetRun(*context, second));
  comparison.settings = Settings(comparison.first, comparison.second);
  comparison.parameters = Parameters(comparison.first, comparison.second);
  TENON_TRY(comparison.files,
            engine::CompareSnapshots(*context, comparison.first, comparison.second));
  comparison.outputs = engine::CompareOutputs(comparison.first, comparison.second);
  if (session.WantsJson()) {
    PrintListing(session, ToJson(comparison), Table({}));
  } else if (session.globals.output == "tsv") {
    PrintData(Flat(comparison).ToTsv());
  } else {
    PrintOut(Page(comparison, options.all).ToText());
  }
  return 0;
}

}  // namespace

Command CompareCommand() {
  return {{{"compare"}, {"history", "compare"}},
          "Show what differs between two runs",
          "Settings, parameters, metrics (last values), the files of the project and the outputs.",
          {"tenon compare 12 13", "tenon compare 12 last --all", "tenon compare 12 13 --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("RUN", &options->words,
                      "Two runs: ids, numbers, beginnings of ids, or `last`");
            table.Add("-r,--run", &options->runs, "The same as an option (may be repeated)")
                .Type("RUN")
                .OneEach();
            table.Flag("--all", &options->all, "What is equal too, and every file");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
