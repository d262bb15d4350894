// SPDX-License-Identifier: Apache-2.0
#include "run/sample.h"

#include <gtest/gtest.h>

#include "run/packed.h"

namespace tenon::run {
namespace {

// Samples of one card for an hour, once a second, with a gap of ten minutes in the middle.
SampleBlock AnHour(const std::string& subject) {
  SampleBlock block{subject, {}, {{"power_mw", {}}, {"memory_used_bytes", {}}, {"sm_percent", {}}}};
  for (int64_t second = 0; second < 3600; ++second) {
    if (second >= 1200 && second < 1800) continue;
    block.times_us.push_back(1'700'000'000'000'000 + second * 1'000'000 + second * second % 977);
    block.columns[0].values.push_back(second % 7 == 0 ? kNotMeasured : 70'000 + second % 300);
    block.columns[1].values.push_back(int64_t{80} << 30);
    block.columns[2].values.push_back(second % 101);
  }
  return block;
}

void ExpectEqual(const std::vector<SampleBlock>& a, const std::vector<SampleBlock>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].subject, b[i].subject);
    EXPECT_EQ(a[i].times_us, b[i].times_us);
    ASSERT_EQ(a[i].columns.size(), b[i].columns.size());
    for (size_t c = 0; c < a[i].columns.size(); ++c) {
      EXPECT_EQ(a[i].columns[c].name, b[i].columns[c].name);
      EXPECT_EQ(a[i].columns[c].values, b[i].columns[c].values);
    }
  }
}

TEST(Samples, ComeBackWithTheirGapsAndWhatWasNotMeasured) {
  const std::vector<SampleBlock> blocks = {
      AnHour("GPU-1"),
      AnHour("GPU-1/4711"),
      {"nothing yet", {}, {{"power_mw", {}}}},
      {"extremes",
       {INT64_MAX, kNotMeasured, -1, 0},
       {{"a", {kNotMeasured, INT64_MAX, kNotMeasured, INT64_MIN + 1}}}},
      {"", {1}, {}},
  };
  auto again = DecodeSampleBlocks(EncodeSampleBlocks(blocks));
  ASSERT_TRUE(again.ok()) << again.error().message;
  ExpectEqual(*again, blocks);
  EXPECT_TRUE(DecodeSampleBlocks(EncodeSampleBlocks({})).ok());
}

TEST(Samples, TakeFewBytes) {
  const SampleBlock block = AnHour("GPU-1");
  const size_t bytes = EncodeSampleBlocks({block}).size();
  EXPECT_LT(bytes, block.times_us.size() * 20);
}

TEST(Samples, CutAtEveryLengthTheyAreCorruptNotACrash) {
  const std::string payload = EncodeSampleBlocks(
      {{"GPU-1", {1, 2, 3}, {{"a", {4, 5, 6}}, {"b", {7, 8, kNotMeasured}}}}, {"x", {9}, {}}});
  ASSERT_EQ(payload[0], 0) << "compressed";
  for (size_t length = 0; length < payload.size(); ++length) {
    auto cut = DecodeSampleBlocks(std::string_view(payload).substr(0, length));
    ASSERT_FALSE(cut.ok()) << length;
    EXPECT_EQ(cut.error().kind, ErrorKind::kCorrupt);
  }
  EXPECT_FALSE(DecodeSampleBlocks(payload + "x").ok());
}

TEST(Samples, AClaimBeyondTheBytesAtHandAllocatesNothing) {
  const auto claim = [](uint64_t blocks, uint64_t rows, uint64_t columns) {
    PackedWriter out(64);
    out.Varint(blocks);
    out.Text("s");
    out.Varint(rows);
    out.Varint(columns);
    out.Text("the bytes that are really there");
    return DecodeSampleBlocks(out.TakePayload());
  };
  EXPECT_FALSE(claim(UINT64_MAX, 1, 1).ok());
  EXPECT_FALSE(claim(1, UINT64_MAX, 1).ok());
  EXPECT_FALSE(claim(1, 1, UINT64_MAX).ok());
  EXPECT_FALSE(claim(1, uint64_t{1} << 32, uint64_t{1} << 32).ok());
}

TEST(Samples, ASmallPayloadOfManyValuesIsRefused) {
  SampleBlock block{"s", std::vector<int64_t>(1u << 20), {}};
  EXPECT_TRUE(DecodeSampleBlocks(EncodeSampleBlocks({block})).ok());
  block.columns.push_back({"one more", std::vector<int64_t>(1u << 20)});
  const std::string payload = EncodeSampleBlocks({block});
  EXPECT_LT(payload.size(), 10'000u);
  EXPECT_FALSE(DecodeSampleBlocks(payload).ok());
  block = {"s", {}, std::vector<SampleColumn>((1u << 16) + 1)};
  EXPECT_FALSE(DecodeSampleBlocks(EncodeSampleBlocks({block})).ok());
}

}  // namespace
}  // namespace tenon::run
