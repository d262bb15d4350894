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
  std::vector<std::string> charts;  // series to draw, if `curves` has them
};

// The page about one run for a person. `curves` has the points of those series that were read.
std::string ShowPage(const journal::RunView& run,
                     const std::map<std::string, std::vector<ChartPoint>>& curves,
                     const PageOptions& options);

// The same for programs: the members of RunToJson() and `details`. A metric called `details`
// becomes `metric.details`.
json::Object ShowJson(const journal::RunView& run);

// The script and its arguments, quoted for a shell: "train.py --epochs 3".
std::string CommandLine(const journal::RunView& run);
// A metric for a table cell: numbers with six digits, texts and lists cut to a recognizable length.
std::string MetricCell(const run::MetricValue& value);
// "0123456 on main, with uncommitted changes"; "" if the project has no git commit and no branch.
std::string GitLine(const journal::RunView& run);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_SHOW_PAGE_H_
