// SPDX-License-Identifier: Apache-2.0
#include "cli/print/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::cli {
namespace {

TEST(CurveThinner, FewPointsAreChanged) {
  CurveThinner thinner(8);
  for (int i = 0; i < 8; ++i) thinner.Add({double(i), double(i * i)});
  const auto points = thinner.Points();
  ASSERT_EQ(points.size(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(points[i].x, i);
    EXPECT_EQ(points[i].y, i * i);
  }
}

TEST(CurveThinner, PeakLostAmongMillions) {
  for (const size_t buckets : {2u, 7u, 64u, 512u}) {
    CurveThinner thinner(buckets);
    constexpr int kPoints = 300'000;
    for (int i = 0; i < kPoints; ++i) {
      double y = std::sin(i / 1000.0);
      if (i == 123'456) y = 50;
      if (i == 200'001) y = -50;
      thinner.Add({double(i), y});
    }
    const auto points = thinner.Points();
    EXPECT_LE(points.size(), 2 * buckets);
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](const auto& a, const auto& b) {
      return a.x < b.x;
    })) << buckets;
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    EXPECT_EQ(low->x, 200'001) << buckets;
    EXPECT_EQ(high->x, 123'456) << buckets;
  }
}

TEST(CurveThinner, NanHidesAPeak) {
  CurveThinner thinner(4);
  for (int i = 0; i < 100; ++i) thinner.Add({double(i), i == 50 ? 9.0 : std::nan("")});
  const auto points = thinner.Points();
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].y, 9.0);
}

TEST(CurveThinner, NothingWasAdded) { EXPECT_TRUE(CurveThinner(4).Points().empty()); }

TEST(CheckSeries, TypoInAName) {
  journal::RunView run;
  run.spec.id = "p_1";
  run.series["accuracy"] = {};
  EXPECT_TRUE(CheckSeries(run, "accuracy").ok());
  const auto status = CheckSeries(run, "acuracy");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(status.error().hint, "did you mean accuracy?");
}

TEST(DrawableSeries, TextAndSinglePointsAreDrawn) {
  journal::RunView run;
  run.series["one"].numbers = 1;
  run.series["text"].count = 5;
  run.series["curve"].numbers = 2;
  EXPECT_EQ(DrawableSeries(run), std::vector<std::string>{"curve"});
}

}  // namespace
}  // namespace tenon::cli
