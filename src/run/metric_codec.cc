// SPDX-License-Identifier: Apache-2.0
// Metric blocks as bytes; docs/formats/journal.md has the grammar.
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/compress.h"
#include "run/metric.h"

namespace tenon::run {
namespace {

static_assert(std::endian::native == std::endian::little,
              "doubles are stored as they lie in memory");

// A runner's records hold at most some 2 MiB, 65,536 points and 32,768 blocks before compression:
// what one chunk of a metric file can.
constexpr size_t kMaxBody = 16u << 20;
constexpr size_t kMaxPoints = 1u << 20;
constexpr size_t kMaxBlocks = 1u << 16;
constexpr size_t kCompressFrom = 256;
constexpr size_t kLeastPointBytes = 3;  // step, time, value: one byte each
constexpr size_t kLeastBlockBytes = 5;

enum Kind : uint8_t { kNumber = 0, kWhole = 1, kBool = 2, kText = 3, kList = 4, kMixed = 255 };

uint64_t Zigzag(uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
uint64_t Unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }

class Encoder {
 public:
  explicit Encoder(size_t expected) { out_.reserve(expected); }

  void Varint(uint64_t value) {
    char buffer[10];
    size_t n = 0;
    while (value >= 0x80) {
      buffer[n++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    buffer[n++] = static_cast<char>(value);
    out_.append(buffer, n);
  }
  void Byte(uint8_t byte) { out_.push_back(static_cast<char>(byte)); }
  void Text(std::string_view text) {
    Varint(text.size());
    out_ += text;
  }
  void Doubles(const double* numbers, size_t count) {
    out_.append(reinterpret_cast<const char*>(numbers), count * sizeof(double));
  }

  // Byte i of every double together: the upper bytes of a series hardly change, so they compress.
  void NumberPlanes(const std::vector<MetricPoint>& points) {
    const size_t n = points.size(), start = out_.size();
    out_.resize(start + n * 8);
    char* plane = out_.data() + start;
    for (size_t i = 0; i < n; ++i) {
      const auto bits = std::bit_cast<uint64_t>(*std::get_if<double>(&points[i].value));
      for (size_t b = 0; b < 8; ++b) plane[b * n + i] = static_cast<char>(bits >> (8 * b));
    }
  }

  void Value(const MetricValue& value) {
    if (const auto* number = std::get_if<double>(&value)) {
      Doubles(number, 1);
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      Varint(Zigzag(Bits(*whole)));
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      Byte(*flag ? 1 : 0);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      Text(*text);
    } else {
      const auto& list = *std::get_if<std::vector<double>>(&value);
      Varint(list.size());
      Doubles(list.data(), list.size());
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

Kind KindOf(const std::vector<MetricPoint>& points) {
  if (points.empty()) return kMixed;
  size_t index = points[0].value.index();
  for (const MetricPoint& point : points) {
    if (point.value.index() != index) return kMixed;
  }
  return static_cast<Kind>(index);
}

void EncodeValues(Encoder& out, const std::vector<MetricPoint>& points, Kind kind) {
  if (kind == kNumber) return out.NumberPlanes(points);
  uint64_t previous = 0;
  for (const MetricPoint& point : points) {
    if (kind == kWhole) {
      uint64_t value = Bits(*std::get_if<int64_t>(&point.value));
      out.Varint(Zigzag(value - previous));
      previous = value;
      continue;
    }
    if (kind == kMixed) out.Byte(static_cast<uint8_t>(point.value.index()));
    out.Value(point.value);
  }
}

void EncodeBlock(Encoder& out, const MetricBlock& block) {
  out.Text(block.series);
  out.Text(block.source);
  out.Varint(block.position);
  out.Varint(block.points.size());
  Kind kind = KindOf(block.points);
  out.Byte(kind);
  uint64_t previous = 0;
  for (const MetricPoint& point : block.points) {
    out.Varint(Zigzag(Bits(point.step) - previous));
    previous = Bits(point.step);
  }
  previous = 0;
  for (const MetricPoint& point : block.points) {
    out.Varint(Zigzag(Bits(point.time_us) - previous));
    previous = Bits(point.time_us);
  }
  EncodeValues(out, block.points, kind);
}

// Takes bytes off the front; after the first failure everything reads as zero and `ok` is false.
class Cutter {
 public:
  explicit Cutter(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }

  uint64_t Varint() {
    uint64_t value = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto byte = static_cast<uint8_t>(rest_[i]);
      if (i == 9 && byte > 1) break;
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    return Fail();
  }
  int64_t Signed(uint64_t& previous) {
    previous += Unzigzag(Varint());
    return static_cast<int64_t>(previous);
  }
  uint8_t Byte() {
    std::string_view byte = Bytes(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) {
      Fail();
      return {};
    }
    std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  std::string Text() { return std::string(Bytes(Varint())); }
  std::vector<double> Doubles(uint64_t count) {
    if (count > rest_.size() / sizeof(double)) {
      Fail();
      return {};
    }
    std::vector<double> numbers(count);
    std::string_view bytes = Bytes(count * sizeof(double));
    if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  uint64_t Fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

MetricValue CutValue(Cutter& in, uint8_t kind) {
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

void CutNumberPlanes(Cutter& in, std::vector<MetricPoint>& points) {
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

void CutValues(Cutter& in, std::vector<MetricPoint>& points, uint8_t kind) {
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
MetricBlock CutBlock(Cutter& in, size_t& points_left) {
  MetricBlock block;
  block.series = in.Text();
  block.source = in.Text();
  block.position = in.Varint();
  uint64_t count = in.Varint();
  uint8_t kind = in.Byte();
  // A claim is believed only as far as the bytes at hand could bear it out.
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
  Cutter in(body);
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
  Encoder out(expected);
  out.Byte(0);
  out.Varint(blocks.size());
  for (const MetricBlock& block : blocks) EncodeBlock(out, block);
  std::string payload = out.Take();
  if (payload.size() <= kCompressFrom) return payload;
  std::string frame = Compress(std::string_view(payload).substr(1));
  if (frame.size() + 1 >= payload.size()) return payload;
  payload.assign(1, '\1');
  payload += frame;
  return payload;
}

Result<std::vector<MetricBlock>> DecodeMetricBlocks(std::string_view payload) {
  TENON_EXPECT_PEER(!payload.empty(), "metric blocks: empty");
  const char form = payload[0];
  payload.remove_prefix(1);
  if (form == 0) {
    TENON_EXPECT_PEER(payload.size() <= kMaxBody, "metric blocks: too large");
    return DecodeBody(payload);
  }
  TENON_EXPECT_PEER(form == 1, "metric blocks: an unknown form");
  TENON_TRY(std::string body, Decompress(payload, kMaxBody));
  return DecodeBody(body);
}

}  // namespace tenon::run
