// SPDX-License-Identifier: Apache-2.0
#include "run/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "base/compress.h"

namespace tenon::run {
namespace {

// Not push_back({…}): GCC 12 at -O2 wrongly sees an uninitialised vector in the temporary point.
void Add(MetricBlock& block, int64_t step, int64_t time_us, double value) {
  MetricPoint& point = block.points.emplace_back();
  point.step = step;
  point.time_us = time_us;
  point.value = value;
}

// Compares the bits: NaN equals NaN, and 0.0 differs from -0.0.
bool SameValue(const MetricValue& a, const MetricValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* number = std::get_if<double>(&a)) {
    return std::memcmp(number, std::get_if<double>(&b), 8) == 0;
  }
  if (const auto* list = std::get_if<std::vector<double>>(&a)) {
    const auto& other = std::get<std::vector<double>>(b);
    return list->size() == other.size() &&
           (list->empty() || std::memcmp(list->data(), other.data(), 8 * list->size()) == 0);
  }
  return a == b;
}

void ExpectSame(const std::vector<MetricBlock>& a, const std::vector<MetricBlock>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].series, b[i].series);
    EXPECT_EQ(a[i].source, b[i].source);
    EXPECT_EQ(a[i].position, b[i].position);
    ASSERT_EQ(a[i].points.size(), b[i].points.size());
    for (size_t j = 0; j < a[i].points.size(); ++j) {
      EXPECT_EQ(a[i].points[j].step, b[i].points[j].step);
      EXPECT_EQ(a[i].points[j].time_us, b[i].points[j].time_us);
      EXPECT_TRUE(SameValue(a[i].points[j].value, b[i].points[j].value)) << i << " " << j;
    }
  }
}

void ExpectComesBack(const std::vector<MetricBlock>& blocks) {
  auto again = DecodeMetricBlocks(EncodeMetricBlocks(blocks));
  ASSERT_TRUE(again.ok()) << again.error().message;
  ExpectSame(*again, blocks);
}

constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();

std::vector<MetricBlock> OneOfEach() {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  return {
      {"loss", "12-ab.0", 1 << 20, {{0, 5, 0.5}, {1, 4, nan}, {2, 9, -inf}, {3, 9, -0.0}}},
      {"epoch", "", 0, {{kLow, kHigh, kLow}, {kHigh, kLow, kHigh}, {0, 0, int64_t{0}}}},
      {"done", "x.1", UINT64_MAX, {{1, 1, true}, {2, 2, false}}},
      {"t\xff\n", "", 0, {{1, 1, std::string()}, {2, 2, std::string("a\0\xff", 3)}}},
      {"list", "", 0, {{1, 1, std::vector<double>{}}, {2, 2, std::vector<double>{1, nan, inf}}}},
      {"mixed",
       "",
       0,
       {{1, 1, 1.5},
        {2, 2, int64_t{-7}},
        {3, 3, true},
        {4, 4, std::string("x")},
        {5, 5, std::vector<double>{2}}}},
      {"none", "", 3, {}},
  };
}

TEST(MetricBlocks, EveryKindComesBackBitForBit) {
  ExpectComesBack(OneOfEach());
  ExpectComesBack({});
}

TEST(MetricBlocks, RandomBlocksComeBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<MetricBlock> blocks(random() % 4);
    for (MetricBlock& block : blocks) {
      block.series = std::string(random() % 20, static_cast<char>('a' + random() % 26));
      block.position = random() >> (random() % 64);
      const size_t kind = random() % 6;
      block.points.resize(random() % 300);
      for (MetricPoint& point : block.points) {
        point.step = static_cast<int64_t>(random() >> (random() % 64));
        point.time_us = static_cast<int64_t>(random());
        switch (kind == 5 ? random() % 5 : kind) {
          case 0: {
            const uint64_t bits = random();
            double number;
            std::memcpy(&number, &bits, 8);
            point.value = number;
            break;
          }
          case 1:
            point.value = static_cast<int64_t>(random());
            break;
          case 2:
            point.value = random() % 2 == 0;
            break;
          case 3:
            point.value = std::string(random() % 50, 't');
            break;
          default:
            point.value = std::vector<double>(random() % 9, 0.25);
        }
      }
    }
    ExpectComesBack(blocks);
  }
}

TEST(MetricBlocks, ASmoothSeriesTakesAtMostNineBytesAPoint) {
  MetricBlock block{"loss", "1-a.0", 0, {}};
  std::mt19937_64 random(1);
  double loss = 3;
  for (int i = 0; i < 100'000; ++i) {
    loss = loss * 0.99999 + 1e-3 * (static_cast<double>(random() % 1000) / 1000 - 0.5);
    Add(block, i, 1'500'000'000'000'000 + 2 * i + static_cast<int>(random() % 2), loss);
  }
  const size_t bytes = EncodeMetricBlocks({block}).size();
  EXPECT_LT(bytes, 9 * block.points.size());
  EXPECT_GT(bytes, 3 * block.points.size()) << "too good to be true";
}

TEST(MetricBlocks, CutAtEveryLengthIsCorruptNotACrash) {
  const std::string payload = EncodeMetricBlocks(OneOfEach());
  for (size_t length = 0; length < payload.size(); ++length) {
    auto decoded = DecodeMetricBlocks(std::string_view(payload).substr(0, length));
    ASSERT_FALSE(decoded.ok()) << length;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kCorrupt);
  }
  EXPECT_FALSE(DecodeMetricBlocks(payload + "x").ok());
}

TEST(MetricBlocks, AClaimBeyondTheBytesAtHandAllocatesNothing) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  EXPECT_FALSE(DecodeMetricBlocks(std::string(1, '\0') + huge).ok());
  // One block with 2^64 - 1 points.
  std::string body{'\0', '\1', '\0', '\0', '\0'};
  EXPECT_FALSE(DecodeMetricBlocks(body + huge + std::string(100, '\0')).ok());
  // A list of 2^64 - 1 numbers.
  std::string list{'\0', '\1', '\0', '\0', '\0', '\1', '\4', '\0', '\0'};
  EXPECT_FALSE(DecodeMetricBlocks(list + huge + std::string(100, '\0')).ok());
}

TEST(MetricBlocks, AFrameThatUnpacksToAGigabyteIsRefused) {
  std::string bomb = "\1" + Compress(std::string(256u << 20, '\0'));
  ASSERT_LT(bomb.size(), 1u << 20);
  auto decoded = DecodeMetricBlocks(bomb);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().kind, ErrorKind::kCorrupt);
}

TEST(SplitMetricBlocks, NothingIsLostAndABlockWithASourceIsNeverCut) {
  std::vector<MetricBlock> blocks;
  for (int i = 0; i < 20; ++i) {
    MetricBlock block{"s" + std::to_string(i), i % 2 ? "1-a.0" : "", 64, {}};
    for (int j = 0; j < 1000 * i; ++j) Add(block, j, j, 1.0 * j);
    blocks.push_back(std::move(block));
  }
  const size_t limit = 100'000;
  auto groups = SplitMetricBlocks(blocks, limit);
  std::map<std::string, size_t> points, parts;
  for (const auto& group : groups) {
    ASSERT_FALSE(group.empty());
    if (group.size() > 1) {
      EXPECT_LE(EncodeMetricBlocks(group).size(), limit);
    }
    for (const MetricBlock& block : group) {
      for (size_t j = 0; j < block.points.size(); ++j) {
        EXPECT_EQ(block.points[j].step, static_cast<int64_t>(points[block.series] + j));
      }
      points[block.series] += block.points.size();
      ++parts[block.series];
    }
  }
  for (int i = 0; i < 20; ++i) {
    const std::string series = "s" + std::to_string(i);
    EXPECT_EQ(points[series], 1000u * static_cast<size_t>(i));
    if (i % 2) {
      EXPECT_EQ(parts[series], 1u);
    }
  }
  EXPECT_GT(parts["s18"], 1u);
  EXPECT_TRUE(SplitMetricBlocks({}).empty());
}

TEST(MetricValue, WordsForPeople) {
  EXPECT_EQ(FormatMetric(0.9734), "0.9734");
  EXPECT_EQ(FormatMetric(int64_t{12}), "12");
  EXPECT_EQ(FormatMetric(true), "True");
  EXPECT_EQ(FormatMetric(std::string("as is")), "as is");
  EXPECT_EQ(FormatMetric(std::vector<double>{1, 2.5, 3}), "[1, 2.5, 3]");
  EXPECT_EQ(FormatMetric(std::nan("")), "nan");
  EXPECT_TRUE(IsNumber(false));
  EXPECT_FALSE(IsNumber(std::string("1")));
  EXPECT_FALSE(IsNumber(std::vector<double>{1}));
  EXPECT_EQ(AsDouble(true), 1);
  EXPECT_EQ(AsDouble(int64_t{3}), 3);
}

}  // namespace
}  // namespace tenon::run
