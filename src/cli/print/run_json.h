// SPDX-License-Identifier: Apache-2.0
// A run as the Workbench's history printed it (reference § 12).
#ifndef TENON_CLI_PRINT_RUN_JSON_H_
#define TENON_CLI_PRINT_RUN_JSON_H_

#include <string>

#include "base/json.h"
#include "cli/print/print.h"
#include "journal/fold.h"
#include "run/metric.h"

namespace tenon::cli {

// One object, members sorted by code point: the fixed ones, and the last value of every metric
// beside them. A metric called like a fixed member is `metric.NAME`.
json::Object RunToJson(const journal::RunView& run, const json::Storage& storage = {});

// The state a listing shows; "unreadable: …" with the reason for a run that can't be read.
std::string ShownState(const journal::RunView& run);

// A metric in a table: numbers with six significant digits, as the Workbench showed them.
std::string ShortMetric(const run::MetricValue& value);

json::Value MetricToJson(const run::MetricValue& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_RUN_JSON_H_
