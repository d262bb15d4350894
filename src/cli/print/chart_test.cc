// SPDX-License-Identifier: Apache-2.0
#include "cli/print/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/text.h"

namespace tenon::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = Split(text, '\n');
  if (!lines.empty()) lines.pop_back();
  return lines;
}

TEST(Sparkline, LowAndHighMixedUp) {
  EXPECT_EQ(DrawSparkline({{0, 0}, {1, 7}}, 10), "▁█");
  EXPECT_EQ(DrawSparkline({{0, 7}, {1, 3.5}, {2, 0}}, 10), "█▅▁");
}

TEST(Sparkline, WiderThanAsked) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 1000; ++i) points.push_back({double(i), double(i)});
  const std::string line = DrawSparkline(points, 8);
  EXPECT_EQ(line, "▁▂▃▄▅▆▇█");
}

TEST(Sparkline, NothingFiniteToDraw) {
  EXPECT_EQ(DrawSparkline({}, 10), "");
  EXPECT_EQ(DrawSparkline({{0, kNan}, {1, kInf}}, 10), "");
}

TEST(Sparkline, ConstantDividesByZero) {
  const std::string line = DrawSparkline({{0, 3}, {1, 3}, {2, 3}}, 10);
  EXPECT_EQ(DisplayWidth(line), 3u);
  EXPECT_TRUE(IsUtf8(line));
}

TEST(Chart, RisingLineThatFalls) {
  const auto lines = Lines(DrawChart("loss", {{0, 0}, {10, 1}}, 40, 6));
  ASSERT_EQ(lines.size(), 6u);  // title, four rows, x axis
  EXPECT_EQ(lines[0], "loss");
  EXPECT_TRUE(lines[1].starts_with("1 │")) << lines[1];
  EXPECT_TRUE(lines[4].starts_with("0 │")) << lines[4];
  // The top row has its dots at the right, the bottom row at the left.
  EXPECT_TRUE(lines[1].find("⠀⠀⠀⠀") < lines[1].size() && !lines[1].ends_with("⠀")) << lines[1];
  EXPECT_TRUE(lines[4].ends_with("⠀⠀⠀⠀") && !lines[4].starts_with("0 │⠀")) << lines[4];
  EXPECT_TRUE(lines[5].starts_with("   0")) << lines[5];
  EXPECT_TRUE(lines[5].ends_with("10")) << lines[5];
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_LE(DisplayWidth(lines[i]), 40u);
}

TEST(Chart, NanAmongThePointsSpoilsTheRange) {
  const std::string with =
      DrawChart("t", {{0, 0}, {1, kNan}, {2, kInf}, {3, -kInf}, {10, 1}}, 40, 6);
  EXPECT_EQ(with, DrawChart("t", {{0, 0}, {10, 1}}, 40, 6));
}

TEST(Chart, OnlyNan) {
  EXPECT_EQ(DrawChart("t", {{0, kNan}}, 40, 6), "");
  EXPECT_EQ(DrawChart("t", {}, 40, 6), "");
}

TEST(Chart, OnePointDividesByZero) {
  const auto lines = Lines(DrawChart("t", {{5, 2.5}}, 40, 6));
  ASSERT_EQ(lines.size(), 6u);
  size_t dots = 0;
  for (const auto& line : lines) {
    for (size_t at = 0; at + 2 < line.size(); ++at) {
      const bool braille =
          line.compare(at, 2, "\xE2\xA0") == 0 || line.compare(at, 2, "\xE2\xA1") == 0 ||
          line.compare(at, 2, "\xE2\xA2") == 0 || line.compare(at, 2, "\xE2\xA3") == 0;
      if (braille && line.compare(at, 3, "⠀") != 0) ++dots;
    }
  }
  EXPECT_EQ(dots, 1u);
}

TEST(Chart, ConstantSeriesIsALine) {
  const auto lines = Lines(DrawChart("t", {{0, 2}, {1, 2}, {2, 2}}, 40, 6));
  ASSERT_EQ(lines.size(), 6u);
  size_t drawn = 0;
  for (size_t i = 1; i < 5; ++i) {
    const std::string row = lines[i].substr(lines[i].find("│") + 3);
    drawn += row.find_first_not_of("\xE2\xA0\x80") != std::string::npos;
  }
  EXPECT_EQ(drawn, 1u) << "a flat line lies in one row";
}

TEST(Chart, TooSmallToDraw) {
  EXPECT_EQ(DrawChart("t", {{0, 1}, {1, 2}}, 10, 6), "");
  EXPECT_EQ(DrawChart("t", {{0, 1}, {1, 2}}, 40, 3), "");
}

TEST(Chart, HugeAndTinyValuesLeaveTheCanvas) {
  const double big = std::numeric_limits<double>::max();
  for (const auto& line : Lines(DrawChart("t", {{0, -big}, {1, big}, {2, 5e-324}}, 40, 6))) {
    EXPECT_LE(DisplayWidth(line), 40u) << line;
  }
  EXPECT_EQ(DrawSparkline({{0, -big}, {1, 0}, {2, big}}, 3), "▁▅█");
  EXPECT_EQ(DrawSparkline({{0, 0}, {1, 5e-324}}, 3), "▁█");
}

}  // namespace
}  // namespace tenon::cli
