// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/series.h"
#include "cli/print/show_page.h"
#include "cli/runs/run_option.h"

namespace tenon::cli {
namespace {

constexpr size_t kCharts = 4;
// Longer series are read only if they are drawn as a chart, not for a small curve.
constexpr uint64_t kLongSeries = 1'000'000;
// A curve takes about 16 KiB of memory.
constexpr size_t kMostCurves = 1000;

struct Options {
  RunOption run;
  std::vector<std::string> metrics;
  bool no_charts = false;
};

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const journal::RunView run, options.run.Get(session, "last"));
  for (const std::string& name : options.metrics) TENON_TRY_VOID(CheckSeries(run, name));
  if (session.WantsJson()) {
    PrintListing(session, ShowJson(run), Table({}));
    return 0;
  }
  TENON_TRY(engine::Context * context, session.Context());
  const std::vector<std::string> drawable = DrawableSeries(run);
  PageOptions page;
  page.width = TerminalWidth();
  page.color = ColorOut();
  page.now_us = context->clock->NowUs();
  if (!options.no_charts) {
    page.charts = options.metrics.empty() ? drawable : options.metrics;
    if (options.metrics.empty()) page.charts.resize(std::min(page.charts.size(), kCharts));
  }
  std::map<std::string, std::vector<ChartPoint>> curves;
  for (const std::string& name : drawable) {
    const bool drawn = std::find(page.charts.begin(), page.charts.end(), name) != page.charts.end();
    if (!drawn && run.series.at(name).count > kLongSeries) continue;
    if (!drawn && curves.size() >= kMostCurves) continue;
    TENON_TRY(curves[name], ReadCurve(*context, run.spec.id, name));
  }
  PrintOut(ShowPage(run, curves, page));
  return 0;
}

}  // namespace

Command ShowCommand() {
  return {{{"show"}},
          "Show all about one run, with its metrics drawn",
          "Without RUN: the newest one.",
          {"tenon show", "tenon show 12 --metric loss", "tenon show last --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            AddRunOption(table, &options->run);
            table.Add("--metric", &options->metrics, "Draw this metric (may be repeated)")
                .Type("NAME")
                .OneEach();
            table.Flag("--no-charts", &options->no_charts, "Draw nothing");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
