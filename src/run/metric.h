// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_METRIC_H_
#define TENON_RUN_METRIC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tenon::run {

// One logged value. A list is one value, not many points.
using MetricValue = std::variant<double, int64_t, bool, std::string, std::vector<double>>;

struct MetricPoint {
  int64_t step = 0;     // given by the script, else a running index per series and process
  int64_t time_us = 0;  // when the script logged it
  MetricValue value;
};

// Points of one series in the order they were logged; what one journal record holds. `source` and
// `position` name the place in the metric files that the block came from
// (docs/formats/metric-files.md), so a new runner that takes over from a dead one goes on exactly
// after it. Empty source: not from a metric file.
struct MetricBlock {
  std::string series;
  std::string source;     // "<family>.<chunk>"
  uint64_t position = 0;  // byte offset in that chunk after the last point of this block
  std::vector<MetricPoint> points;
};

// The payload of a journal record: several blocks. Numbers are stored in columns with small deltas
// and compressed as a whole when that pays; 1 M doubles of a smooth series take about 9 bytes a
// point.
std::string EncodeMetricBlocks(const std::vector<MetricBlock>& blocks);
// Fails with kCorrupt on anything malformed. A body has at most 16 MiB, and every point takes at
// least 3 bytes of it.
Result<std::vector<MetricBlock>> DecodeMetricBlocks(std::string_view payload);

// Distributes blocks over payloads of about `max_bytes` before compression. A block with a source
// is never cut, because its position is true only for the whole block. So a payload with one such
// block may be larger; a block of a whole metric file chunk (2 MiB at most) still fits a record. No
// blocks give no payloads.
std::vector<std::vector<MetricBlock>> SplitMetricBlocks(std::vector<MetricBlock> blocks,
                                                        size_t max_bytes = 1u << 20);

// The value as a number, for charts and comparisons. Lists and texts have none: AsDouble() returns
// NaN.
bool IsNumber(const MetricValue& value);
double AsDouble(const MetricValue& value);
// For people: "0.9734", "12", "True", a text as it is, "[1, 2, 3]".
std::string FormatMetric(const MetricValue& value);

}  // namespace tenon::run

#endif  // TENON_RUN_METRIC_H_
