// SPDX-License-Identifier: Apache-2.0
// Prints every point of a run's metrics. There may be millions, so they are printed as they are
// read.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/csv.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/print/series.h"
#include "cli/runs/run_option.h"

namespace tenon::cli {
namespace {

constexpr int kChartHeight = 14;
// The most memory that --query may use, in bytes: some 200,000 points.
constexpr uint64_t kMostQueried = 64u << 20;
constexpr uint64_t kQueriedPointCost = 320;

uint64_t CostOf(const run::MetricValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size();
  const auto* list = std::get_if<std::vector<double>>(&value);
  return list ? list->size() * sizeof(json::Value) : 0;
}

struct Options {
  RunOption run;
  std::string name;
  bool csv = false;
  bool chart = false;
};

using Visit = std::function<void(const std::string& series, const run::MetricPoint& point)>;

Status ForEachPoint(engine::Context& context, const std::string& run_id, const std::string& name,
                    const Visit& visit) {
  TENON_TRY(history::HistoryStore * store, context.History());
  return store->ReadMetrics(run_id, name,
                            [&](const std::string& series, const run::MetricPoint& point) {
                              visit(series, point);
                              return Status();
                            });
}

Status PrintCsv(engine::Context& context, const std::string& run_id, const std::string& name) {
  PrintData("name,step,time_utc,value\n");
  // A field with line breaks is fine for programs, but not on a terminal.
  const bool people = ::isatty(STDOUT_FILENO) == 1;
  const auto field = [people](const std::string& text) {
    return CsvField(people ? OneLine(text) : text);
  };
  return ForEachPoint(
      context, run_id, name, [&](const std::string& series, const run::MetricPoint& point) {
        PrintData(field(series) + "," + std::to_string(point.step) + "," +
                  FormatUtc(point.time_us) + "," + field(run::FormatMetric(point.value)) + "\n");
      });
}

json::Object PointToJson(const std::string& series, const run::MetricPoint& point) {
  return {{"name", json::EncodeBytes(series)},
          {"step", point.step},
          {"time_utc", FormatUtc(point.time_us)},
          {"value", MetricToJson(point.value)}};
}

Status PrintJson(engine::Context& context, const std::string& run_id, const std::string& name) {
  PrintJsonText("[");
  bool first = true;
  TENON_TRY_VOID(ForEachPoint(context, run_id, name,
                              [&](const std::string& series, const run::MetricPoint& point) {
                                PrintJsonText(first ? "\n  " : ",\n  ");
                                first = false;
                                PrintJsonText(json::Print(PointToJson(series, point)));
                              }));
  PrintJsonText(first ? "]\n" : "\n]\n");
  return {};
}

Status PrintTsv(engine::Context& context, const std::string& run_id, const std::string& name) {
  return ForEachPoint(
      context, run_id, name, [](const std::string& series, const run::MetricPoint& point) {
        PrintOut(OneLine(series) + "\t" + std::to_string(point.step) + "\t" +
                 FormatUtc(point.time_us) + "\t" + OneLine(run::FormatMetric(point.value)) + "\n");
      });
}

// A table that does not hold its rows: a first reading measures the widths, a second one prints.
class PointTable {
 public:
  explicit PointTable(bool with_name) : with_name_(with_name) {}

  void Measure(const std::string& series, const run::MetricPoint& point) {
    name_ = std::max(name_, std::min(kWidestLinedUp, DisplayWidth(OneLine(series))));
    step_ = std::max(step_, std::to_string(point.step).size());
    before_ = std::max(before_, std::min(kWidestLinedUp, Before(point)));
  }

  void PrintHead() const {
    const std::string time(kTimeWidth, '-');
    PrintRow("Name", "Step", "Time", "Value");
    PrintRow(std::string(name_, '-'), std::string(step_, '-'), time,
             std::string(std::max<size_t>(before_, 5), '-'));
  }

  void Print(const std::string& series, const run::MetricPoint& point) const {
    const std::string step = std::to_string(point.step);
    const size_t before = Before(point);
    PrintRow(
        OneLine(series), std::string(step_ - std::min(step_, step.size()), ' ') + step,
        FormatUtc(point.time_us),
        std::string(run::IsNumber(point.value) ? before_ - std::min(before_, before) : 0, ' ') +
            OneLine(run::FormatMetric(point.value)));
  }

 private:
  static constexpr size_t kTimeWidth = 32;
  static constexpr size_t kWidestLinedUp = 200;  // a longer name shifts the rest of its line

  // Characters before the decimal point.
  static size_t Before(const run::MetricPoint& point) {
    if (!run::IsNumber(point.value)) return 0;
    const std::string text = run::FormatMetric(point.value);
    return std::min(text.find_first_of(".e"), text.size());
  }

  static std::string Padded(const std::string& text, size_t width) {
    const size_t have = DisplayWidth(text);
    return have < width ? text + std::string(width - have, ' ') : text;
  }

  void PrintRow(std::string_view name, std::string_view step, std::string_view time,
                std::string_view value) const {
    std::string line;
    if (with_name_) line += Padded(std::string(name), name_) + "  ";
    line += Padded(std::string(step), step_) + "  " + Padded(std::string(time), kTimeWidth) + "  ";
    line += value;
    PrintOut(line + "\n");
  }

  bool with_name_;
  size_t name_ = 4, step_ = 4, before_ = 0;
};

Status PrintTable(engine::Context& context, const std::string& run_id, const std::string& name) {
  PointTable table(name.empty());
  TENON_TRY_VOID(ForEachPoint(context, run_id, name, [&](const auto& series, const auto& point) {
    table.Measure(series, point);
  }));
  table.PrintHead();
  return ForEachPoint(context, run_id, name,
                      [&](const auto& series, const auto& point) { table.Print(series, point); });
}

Result<int> Draw(engine::Context& context, const journal::RunView& run, const std::string& name) {
  const std::vector<std::string> names =
      name.empty() ? DrawableSeries(run) : std::vector<std::string>{name};
  bool drawn = false;
  for (const std::string& series : names) {
    TENON_TRY(const auto points, ReadCurve(context, run.spec.id, series));
    const std::string chart = DrawChart(Styled(OneLine(series), Style::kCyan, ColorOut()), points,
                                        std::min(TerminalWidth(), 120), kChartHeight);
    PrintOut((drawn && !chart.empty() ? "\n" : "") + chart);
    drawn |= !chart.empty();
  }
  if (!drawn) PrintErr("nothing to draw: a chart needs numbers\n");
  return 0;
}

Result<int> Act(Session& session, Options options) {
  // `metrics -r RUN NAME`: with -r, the first word is the metric, not the run.
  if (!options.run.option.empty() && !options.run.word.empty() && options.name.empty()) {
    std::swap(options.name, options.run.word);
  }
  TENON_TRY(const journal::RunView run, options.run.Get(session, "last"));
  if (!options.name.empty()) TENON_TRY_VOID(CheckSeries(run, options.name));
  TENON_TRY(engine::Context * context, session.Context());
  if (options.chart) return Draw(*context, run, options.name);
  const bool for_people = !options.csv && !session.WantsJson() && session.globals.output != "tsv";
  if (run.series.empty() && for_people) {
    PrintErr("the run " + run.spec.id + " has logged no metric\n");
    return 0;
  }
  if (session.query && !options.csv) {
    json::Array points;
    uint64_t bytes = 0;
    TENON_TRY_VOID(ForEachPoint(*context, run.spec.id, options.name,
                                [&](const std::string& series, const run::MetricPoint& point) {
                                  bytes += kQueriedPointCost + series.size() + CostOf(point.value);
                                  if (bytes > kMostQueried) return;
                                  points.push_back(PointToJson(series, point));
                                }));
    if (bytes > kMostQueried) {
      return Invalid("--query needs all points at once, and these are more than it takes")
          .WithHint("`tenon metrics " + run.spec.id + " --csv` writes them out as they are read");
    }
    PrintValue(session, points);
    return 0;
  }
  const auto print = options.csv                       ? PrintCsv
                     : session.WantsJson()             ? PrintJson
                     : session.globals.output == "tsv" ? PrintTsv
                                                       : PrintTable;
  TENON_TRY_VOID(print(*context, run.spec.id, options.name));
  return 0;
}

}  // namespace

Command MetricsCommand() {
  return {{{"metrics"}},
          "Print every point of a run's metrics",
          "All of them, or those of one metric. --csv and --json write them out as they are read.",
          {"tenon metrics", "tenon metrics 12 loss --csv > loss.csv",
           "tenon metrics last loss --chart"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            AddRunOption(table, &options->run);
            table.Add("NAME", &options->name, "Only this metric");
            Option& csv =
                table.Flag("--csv", &options->csv, "Comma-separated: name,step,time_utc,value");
            table.Flag("--chart", &options->chart, "Draw them instead").Excludes(csv);
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
