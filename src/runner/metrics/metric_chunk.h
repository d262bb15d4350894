// SPDX-License-Identifier: Apache-2.0
// The bytes of a metric file (docs/formats/metric-files.md), without any I/O. All input is
// untrusted.
#ifndef TENON_RUNNER_METRICS_METRIC_CHUNK_H_
#define TENON_RUNNER_METRICS_METRIC_CHUNK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/metric.h"

namespace tenon::runner {

inline constexpr uint64_t kMetricHeaderSize = 64;
inline constexpr uint64_t kMetricRecordHead = 32;
inline constexpr uint64_t kMetricWantOffset = 48;
inline constexpr uint64_t kMetricSyncedOffset = 56;
inline constexpr uint64_t kMaxMetricChunk = 2u << 20;
inline constexpr uint64_t kMaxMetricText = 1u << 20;
inline constexpr uint64_t kMaxMetricList = 131072;
inline constexpr uint64_t kMaxMetricName = 1024;
inline constexpr uint64_t kMaxMetricRecord = kMetricRecordHead + kMaxMetricText;

struct MetricChunkName {
  std::string family;  // "<pid>-<8 hex>"
  uint32_t number = 0;
};
// Parses a name like "71-00c0ffee.3.tm"; nullopt for any other name.
std::optional<MetricChunkName> ParseMetricChunkName(std::string_view file);

struct MetricChunkHeader {
  uint32_t pid = 0;
  uint32_t number = 0;
  uint64_t size = 0;
  uint64_t pid_namespace = 0;  // 0: unknown
  uint64_t start_ticks = 0;    // 0: unknown
  uint64_t want = 0;
  uint64_t synced = 0;
};
// `bytes`: the first kMetricHeaderSize bytes of a file. kCorrupt when they are no header.
Result<MetricChunkHeader> ParseMetricChunkHeader(std::string_view bytes);

enum class MetricTag : uint8_t {
  kNotYet = 0,
  kNumber = 1,
  kWhole = 2,
  kBoolean = 3,
  kText = 4,
  kList = 5,
  kName = 6,
  kDropped = 7,
  kEndOfFamily = 126,
  kEndOfChunk = 127,
};

struct MetricRecord {
  MetricTag tag = MetricTag::kNotYet;
  bool cut = false;
  uint32_t series = 0;
  int64_t time_us = 0;
  int64_t step = 0;
  uint64_t raw = 0;          // the eight bytes that hold the value or the length
  std::string_view payload;  // points into the input
  uint64_t size = 0;         // of the whole record

  bool is_point() const { return tag >= MetricTag::kNumber && tag <= MetricTag::kList; }
};

// Size of the record that begins with `head` (kMetricRecordHead bytes); 0 when it is not written
// yet. kCorrupt: an unknown tag, or a length over the maximum.
Result<uint64_t> MetricRecordSize(std::string_view head);
// Parses the record at the beginning of `bytes`, which hold at least MetricRecordSize() bytes of
// it.
Result<MetricRecord> ParseMetricRecord(std::string_view bytes);
// The value of a point; `record` must be one (is_point()).
run::MetricValue MetricRecordValue(const MetricRecord& record);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_METRICS_METRIC_CHUNK_H_
