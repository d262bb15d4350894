// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_SHOW_PAGE_H_
#define TENON_CLI_PRINT_SHOW_PAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/print/chart.h"
#include "journal/fold.h"
#include "run/metric.h"

namespace tenon::cli {

struct PageOptions {
  int width = 80;
  bool color = false;
  int64_t now_us = 0;
  std::vector<std::string> charts;  // series to draw, out of the curves
};

// All about one run, for a person. `curves` are the points of its series, as far as they were read.
std::string ShowPage(const journal::RunView& run,
                     const std::map<std::string, std::vector<ChartPoint>>& curves,
                     const PageOptions& options);

// The same for programs: RunToJson's members, and beside them `details`. A metric of that name is
// `metric.details`.
json::Object ShowJson(const journal::RunView& run);

// "train.py --epochs 3", as a shell would need it typed.
std::string CommandLine(const journal::RunView& run);
// A metric for a column: numbers with six digits, texts and lists only as far as needed to know
// them.
std::string MetricCell(const run::MetricValue& value);
// "0123456 on main, with uncommitted changes"; "" when git knew nothing.
std::string GitLine(const journal::RunView& run);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_SHOW_PAGE_H_
