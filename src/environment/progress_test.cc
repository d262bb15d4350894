// SPDX-License-Identifier: Apache-2.0
#include "environment/progress.h"

#include <gtest/gtest.h>

namespace tenon::environment {
namespace {

constexpr const char* kUv =
    "Using Python 3.11.7 environment at: ev\n"
    "Resolved 5 packages in 105ms\n"
    "   Building demo==1.0\n"
    "Downloading numpy (16.0MiB)\n"
    "Downloading scipy (32.0MiB)\n"
    " Downloaded numpy\n"
    " Downloaded scipy\n"
    "Prepared 5 packages in 2.1s\n"
    "Installed 5 packages in 20ms\n"
    " + numpy==1.26.4\n";

TEST(ToolProgressTest, UvsWordsBecomeNumbersHoweverTheyAreCut) {
  constexpr uint64_t kMiB = 1024 * 1024;
  for (size_t piece : {size_t{1}, size_t{7}, size_t{100000}}) {
    ToolProgress progress;
    std::vector<ProgressPoint> all;
    std::string_view text = kUv;
    for (size_t at = 0; at < text.size(); at += piece) {
      for (auto& point : progress.Feed(text.substr(at, piece))) all.push_back(point);
    }
    ASSERT_EQ(all.size(), 8u) << piece;
    EXPECT_EQ(all[0].detail, "5 packages to install");
    EXPECT_EQ(all[1].detail, "building demo==1.0");
    EXPECT_EQ(all[3].detail, "downloading scipy");
    EXPECT_EQ(all[3].total, 48 * kMiB);
    EXPECT_EQ(all[4].done, 16 * kMiB);
    EXPECT_EQ(all[5].done, 48 * kMiB);
    EXPECT_EQ(progress.Summary(), "5 packages, 50.3 MB downloaded");
  }
}

TEST(ToolProgressTest, PipsWordsToo) {
  ToolProgress progress;
  auto points = progress.Feed(
      "Collecting numpy==1.26.4 (from -r r.txt (line 1))\n"
      "  Downloading numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.whl (18.3 MB)\n"
      "Installing collected packages: numpy\n"
      "Successfully installed numpy-1.26.4 six-1.0\n");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].detail, "collecting numpy==1.26.4");
  EXPECT_EQ(points[1].total, 18'300'000u);
  EXPECT_EQ(points[2].done, 18'300'000u);
  EXPECT_EQ(progress.Summary(), "2 packages, 18.3 MB downloaded");
}

TEST(ToolProgressTest, AnEndlessLineCostsNoMemoryAndNonsenseIsNothing) {
  ToolProgress progress;
  std::string much(100'000, 'x');
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(progress.Feed(much).empty());
  EXPECT_TRUE(progress.Feed("\nDownloaded ghost\nInstalled many packages\n").empty());
  EXPECT_EQ(progress.Summary(), "");
}

TEST(ParseSizeTest, UnitsOfBothWorlds) {
  EXPECT_EQ(ParseSize("1.5KiB"), 1536u);
  EXPECT_EQ(ParseSize(" 99 kB "), 99'000u);
  EXPECT_EQ(ParseSize("12B"), 12u);
  for (const char* text : {"", "MB", "12", "12 apples", "-1MB"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tenon::environment
