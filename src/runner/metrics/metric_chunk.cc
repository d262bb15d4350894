// SPDX-License-Identifier: Apache-2.0
#include "runner/metrics/metric_chunk.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace tenon::runner {
namespace {

static_assert(std::endian::native == std::endian::little, "metric files are little-endian");

constexpr std::string_view kMagic = "TENONTM\n";
constexpr uint32_t kVersion = 1;
constexpr double kMaxSeconds = 1e11;  // the year 5138; a larger value is not a time

template <typename T>
T Load(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<uint32_t> ParseDecimal(std::string_view digits) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool plain = digits.size() == 1 || (!digits.empty() && digits[0] != '0');
  if (error != std::errc() || end != digits.data() + digits.size() || !plain) return std::nullopt;
  return value;
}

uint64_t Padded(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

}  // namespace

std::optional<MetricChunkName> ParseMetricChunkName(std::string_view file) {
  constexpr std::string_view kSuffix = ".tm";
  if (file.size() > 64 || !file.ends_with(kSuffix)) return std::nullopt;
  file.remove_suffix(kSuffix.size());
  size_t dot = file.find('.');
  if (dot == file.npos) return std::nullopt;
  std::string_view family = file.substr(0, dot);
  size_t dash = family.find('-');
  if (dash == family.npos || !ParseDecimal(family.substr(0, dash))) return std::nullopt;
  std::string_view hex = family.substr(dash + 1);
  if (hex.size() != 8 || hex.find_first_not_of("0123456789abcdef") != hex.npos) return std::nullopt;
  auto number = ParseDecimal(file.substr(dot + 1));
  if (!number) return std::nullopt;
  return MetricChunkName{std::string(family), *number};
}

Result<MetricChunkHeader> ParseMetricChunkHeader(std::string_view bytes) {
  TENON_EXPECT_PEER(bytes.size() >= kMetricHeaderSize, "shorter than a header");
  TENON_EXPECT_PEER(bytes.starts_with(kMagic), "not a metric file");
  uint32_t version = Load<uint32_t>(bytes, 8);
  TENON_EXPECT_PEER(version == kVersion,
                    "version " + std::to_string(version) + ", this program knows version 1");
  MetricChunkHeader header;
  header.pid = Load<uint32_t>(bytes, 12);
  header.number = Load<uint32_t>(bytes, 16);
  header.size = Load<uint64_t>(bytes, 24);
  header.pid_namespace = Load<uint64_t>(bytes, 32);
  header.start_ticks = Load<uint64_t>(bytes, 40);
  header.want = Load<uint64_t>(bytes, kMetricWantOffset);
  header.synced = Load<uint64_t>(bytes, kMetricSyncedOffset);
  return header;
}

Result<uint64_t> MetricRecordSize(std::string_view head) {
  TENON_CHECK(head.size() >= kMetricRecordHead);
  uint64_t length = Load<uint64_t>(head, 24);
  switch (static_cast<MetricTag>(head[0])) {
    case MetricTag::kNotYet:
      return uint64_t{0};
    case MetricTag::kText:
      TENON_EXPECT_PEER(length <= kMaxMetricText, "a text of impossible length");
      return kMetricRecordHead + Padded(length);
    case MetricTag::kList:
      TENON_EXPECT_PEER(length <= kMaxMetricList, "a list of impossible length");
      return kMetricRecordHead + length * 8;
    case MetricTag::kName:
      TENON_EXPECT_PEER(length >= 1 && length <= kMaxMetricName, "a name of impossible length");
      return kMetricRecordHead + Padded(length);
    case MetricTag::kNumber:
    case MetricTag::kWhole:
    case MetricTag::kBoolean:
    case MetricTag::kDropped:
    case MetricTag::kEndOfFamily:
    case MetricTag::kEndOfChunk:
      return kMetricRecordHead;
  }
  return Corrupt("a record with the unknown tag " +
                 std::to_string(static_cast<unsigned char>(head[0])));
}

Result<MetricRecord> ParseMetricRecord(std::string_view bytes) {
  TENON_TRY(uint64_t size, MetricRecordSize(bytes));
  TENON_EXPECT_PEER(size != 0, "a record that was taken back");
  TENON_EXPECT_PEER(size <= bytes.size(), "a record that grew");
  MetricRecord record;
  record.tag = static_cast<MetricTag>(bytes[0]);
  TENON_EXPECT_PEER(static_cast<unsigned char>(bytes[1]) <= 1 && Load<uint16_t>(bytes, 2) == 0,
                    "a record with unknown flags");
  record.cut = bytes[1] == 1;
  record.series = Load<uint32_t>(bytes, 4);
  double seconds = Load<double>(bytes, 8);
  TENON_EXPECT_PEER(std::fabs(seconds) < kMaxSeconds, "a record with an impossible time");
  record.time_us = std::llround(seconds * 1e6);
  record.step = Load<int64_t>(bytes, 16);
  record.raw = Load<uint64_t>(bytes, 24);
  record.size = size;
  size_t length = size - kMetricRecordHead;
  if (record.tag == MetricTag::kText || record.tag == MetricTag::kName) length = record.raw;
  record.payload = bytes.substr(kMetricRecordHead, length);
  if (record.tag == MetricTag::kText || record.tag == MetricTag::kName) {
    TENON_EXPECT_PEER(IsUtf8(record.payload), "text that is not UTF-8");
  }
  TENON_EXPECT_PEER(record.tag != MetricTag::kBoolean || record.raw <= 1,
                    "a boolean that is neither true nor false");
  return record;
}

run::MetricValue MetricRecordValue(const MetricRecord& record) {
  TENON_CHECK(record.is_point());
  switch (record.tag) {
    case MetricTag::kWhole:
      return std::bit_cast<int64_t>(record.raw);
    case MetricTag::kBoolean:
      return record.raw != 0;
    case MetricTag::kText:
      return std::string(record.payload);
    case MetricTag::kList: {
      std::vector<double> numbers(record.raw);
      if (record.raw > 0) {
        std::memcpy(numbers.data(), record.payload.data(), record.payload.size());
      }
      return numbers;
    }
    default:
      return std::bit_cast<double>(record.raw);
  }
}

}  // namespace tenon::runner
