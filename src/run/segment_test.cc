// SPDX-License-Identifier: Apache-2.0
#include "run/segment.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::run {
namespace {

TEST(SegmentTest, NamesTellTheKind) {
  EXPECT_EQ(KindOfSegment("host"), SegmentKind::kHost);
  EXPECT_EQ(KindOfSegment("script"), SegmentKind::kScript);
  EXPECT_EQ(KindOfSegment("near-0123456789abcdef"), SegmentKind::kNear);
  EXPECT_EQ(KindOfSegment("rank-0"), SegmentKind::kRank);
  EXPECT_EQ(KindOfSegment("rank-123"), SegmentKind::kRank);
  EXPECT_EQ(KindOfSegment("sampler-gpu"), SegmentKind::kSampler);
}

TEST(SegmentTest, ANameThatLeadsElsewhereIsNoSegment) {
  for (const char* name : {"", "hosts", "near-", "near-../x", "rank-", "rank-x", "rank--1",
                           "rank-01", "rank-1234567", "rank-1/../../spec", "sampler-",
                           "sampler-a/b", "sampler-.", "sampler-A", "../host", "sampler-\n"}) {
    EXPECT_FALSE(KindOfSegment(name).has_value()) << name;
  }
  EXPECT_FALSE(KindOfSegment("sampler-" + std::string(65, 'a')).has_value());
  EXPECT_FALSE(KindOfSegment(std::string_view("rank-1\0", 7)).has_value());
}

TEST(SegmentTest, AMachineHasNoNearSegments) {
  EXPECT_TRUE(IsFarSegment("host"));
  EXPECT_TRUE(IsFarSegment("rank-7"));
  EXPECT_FALSE(IsFarSegment("near-0123456789abcdef"));
  EXPECT_FALSE(IsFarSegment("what"));
}

TEST(SegmentTest, TheHostsComesFirstAndRanksByNumber) {
  EXPECT_EQ(FarSegmentsOf({"rank-10.tj", "sampler-gpu.tj", "spec.json", "rank-9.tj", "script.tj",
                           "near-0123456789abcdef.tj", "host.tj", "what.tj", "rank-1"}),
            (std::vector<std::string>{"host", "script", "rank-9", "rank-10", "sampler-gpu"}));
}

TEST(SegmentTest, AFolderFullOfSegmentsIsNotReadWhole) {
  std::vector<std::string> names = {"host.tj"};
  for (int rank = 0; rank < 2000; ++rank) names.push_back("rank-" + std::to_string(rank) + ".tj");
  const auto segments = FarSegmentsOf(names);
  EXPECT_EQ(segments.size(), kMostFarSegments);
  EXPECT_EQ(segments.front(), "host");
  EXPECT_EQ(segments.back(), "rank-510");
}

}  // namespace
}  // namespace tenon::run
