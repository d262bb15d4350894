// SPDX-License-Identifier: Apache-2.0
// A run in the form of the Workbench's history (reference § 12).
#ifndef TENON_CLI_PRINT_RUN_JSON_H_
#define TENON_CLI_PRINT_RUN_JSON_H_

#include <string>

#include "base/json.h"
#include "cli/print/print.h"
#include "journal/fold.h"
#include "run/metric.h"

namespace tenon::cli {

// One object with members sorted by code point: the fixed members and the last value of every
// metric. A metric with the name of a fixed member becomes `metric.NAME`.
json::Object RunToJson(const journal::RunView& run, const json::Storage& storage = {});

// The state as listings show it; "unreadable: REASON" for a run that can't be read.
std::string ShownState(const journal::RunView& run);

// A metric as tables show it: numbers have six significant digits, as in the Workbench.
std::string ShortMetric(const run::MetricValue& value);

json::Value MetricToJson(const run::MetricValue& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_RUN_JSON_H_
