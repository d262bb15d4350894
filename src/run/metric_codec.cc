// SPDX-License-Identifier: Apache-2.0
// Metric blocks as bytes; docs/formats/journal.md has the grammar.
#include <bit>

#include "base/check.h"
#include "run/metric.h"
#include "run/packed.h"

namespace tenon::run {
namespace {

// A record of a runner holds no more than one chunk of a metric file can: some 2 MiB, 65,536 points
// and 32,768 blocks before compression.
constexpr size_t kMaxBody = 16u << 20;
constexpr size_t kMaxPoints = 1u << 20;
constexpr size_t kMaxBlocks = 1u << 16;
constexpr size_t kLeastPointBytes = 3;  // step, time, value: one byte each
constexpr size_t kLeastBlockBytes = 5;

enum Kind : uint8_t { kNumber = 0, kWhole = 1, kBool = 2, kText = 3, kList = 4, kMixed = 255 };

// Writes byte i of all doubles together: the upper bytes of a series hardly change, so they
// compress well.
void PutNumberPlanes(PackedWriter& out, const std::vector<MetricPoint>& points) {
  const size_t n = points.size();
  char* plane = out.Extend(n * 8);
  for (size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint64_t>(*std::get_if<double>(&points[i].value));
    for (size_t b = 0; b < 8; ++b) plane[b * n + i] = static_cast<char>(bits >> (8 * b));
  }
}

void PutValue(PackedWriter& out, const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    out.Doubles(number, 1);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    uint64_t zero = 0;
    out.Signed(*whole, zero);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    out.Byte(*flag ? 1 : 0);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.Text(*text);
  } else {
    const auto& list = *std::get_if<std::vector<double>>(&value);
    out.Varint(list.size());
    out.Doubles(list.data(), list.size());
  }
}

Kind KindOf(const std::vector<MetricPoint>& points) {
  if (points.empty()) return kMixed;
  size_t index = points[0].value.index();
  for (const MetricPoint& point : points) {
    if (point.value.index() != index) return kMixed;
  }
  return static_cast<Kind>(index);
}

void EncodeValues(PackedWriter& out, const std::vector<MetricPoint>& points, Kind kind) {
  if (kind == kNumber) return PutNumberPlanes(out, points);
  uint64_t previous = 0;
  for (const MetricPoint& point : points) {
    if (kind == kWhole) {
      out.Signed(*std::get_if<int64_t>(&point.value), previous);
      continue;
    }
    if (kind == kMixed) out.Byte(static_cast<uint8_t>(point.value.index()));
    PutValue(out, point.value);
  }
}

void EncodeBlock(PackedWriter& out, const MetricBlock& block) {
  out.Text(block.series);
  out.Text(block.source);
  out.Varint(block.position);
  out.Varint(block.points.size());
  Kind kind = KindOf(block.points);
  out.Byte(kind);
  uint64_t previous = 0;
  for (const MetricPoint& point : block.points) out.Signed(point.step, previous);
  previous = 0;
  for (const MetricPoint& point : block.points) out.Signed(point.time_us, previous);
  EncodeValues(out, block.points, kind);
}

MetricValue CutValue(PackedReader& in, uint8_t kind) {
  switch (kind) {
    case kNumber: {
      std::vector<double> one = in.Doubles(1);
      return one.empty() ? 0.0 : one[0];
    }
    case kWhole: {
      uint64_t zero = 0;
      return in.Signed(zero);
    }
    case kBool: {
      uint8_t byte = in.Byte();
      if (byte > 1) in.Fail();
      return byte == 1;
    }
    case kText:
      return in.Text();
    case kList:
      return in.Doubles(in.Varint());
    default:
      in.Fail();
      return 0.0;
  }
}

void CutNumberPlanes(PackedReader& in, std::vector<MetricPoint>& points) {
  const size_t n = points.size();
  std::string_view planes = in.Bytes(n * 8);
  if (!in.ok()) return;
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits = 0;
    for (size_t b = 0; b < 8; ++b) {
      bits |= uint64_t{static_cast<uint8_t>(planes[b * n + i])} << (8 * b);
    }
    points[i].value = std::bit_cast<double>(bits);
  }
}

void CutValues(PackedReader& in, std::vector<MetricPoint>& points, uint8_t kind) {
  if (kind == kNumber) return CutNumberPlanes(in, points);
  uint64_t previous = 0;
  for (MetricPoint& point : points) {
    if (!in.ok()) return;
    if (kind == kWhole) {
      point.value = in.Signed(previous);
    } else {
      point.value = CutValue(in, kind == kMixed ? in.Byte() : kind);
    }
  }
}

// `points_left`: what the record's other blocks leave of kMaxPoints.
MetricBlock CutBlock(PackedReader& in, size_t& points_left) {
  MetricBlock block;
  block.series = in.Text();
  block.source = in.Text();
  block.position = in.Varint();
  uint64_t count = in.Varint();
  uint8_t kind = in.Byte();
  // Checked before memory is allocated: the bytes that are left must be enough for the points.
  if (count > in.left() / kLeastPointBytes || count > points_left) in.Fail();
  if (!in.ok()) return block;
  points_left -= count;
  block.points.resize(count);
  uint64_t previous = 0;
  for (MetricPoint& point : block.points) point.step = in.Signed(previous);
  previous = 0;
  for (MetricPoint& point : block.points) point.time_us = in.Signed(previous);
  CutValues(in, block.points, kind);
  return block;
}

Result<std::vector<MetricBlock>> DecodeBody(std::string_view body) {
  PackedReader in(body);
  uint64_t count = in.Varint();
  TENON_EXPECT_PEER(in.ok() && count <= in.left() / kLeastBlockBytes && count <= kMaxBlocks,
                    "metric blocks: the count is wrong");
  size_t points_left = kMaxPoints;
  std::vector<MetricBlock> blocks;
  blocks.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    blocks.push_back(CutBlock(in, points_left));
    TENON_EXPECT_PEER(in.ok(), "metric blocks: block " + std::to_string(i) + " is malformed");
  }
  TENON_EXPECT_PEER(in.left() == 0, "metric blocks: bytes after the last block");
  return blocks;
}

}  // namespace

std::string EncodeMetricBlocks(const std::vector<MetricBlock>& blocks) {
  size_t expected = 16;
  for (const MetricBlock& block : blocks) expected += 64 + block.points.size() * 12;
  PackedWriter out(expected);
  out.Varint(blocks.size());
  for (const MetricBlock& block : blocks) EncodeBlock(out, block);
  return out.TakePayload();
}

Result<std::vector<MetricBlock>> DecodeMetricBlocks(std::string_view payload) {
  std::string storage;
  TENON_TRY(const std::string_view body, UnpackPayload(payload, kMaxBody, &storage));
  return DecodeBody(body);
}

}  // namespace tenon::run
