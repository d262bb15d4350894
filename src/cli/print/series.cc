// SPDX-License-Identifier: Apache-2.0
#include "cli/print/series.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/terminal.h"
#include "base/text.h"

namespace tenon::cli {

constexpr size_t kNamesShown = 50;

CurveThinner::CurveThinner(size_t buckets) : limit_(std::max<size_t>(buckets, 2)) {}

void CurveThinner::Bucket::Take(ChartPoint point) {
  if (points == 0) {
    low = high = point;
  } else if (point.y < low.y) {
    low = point;
    low_first = false;
  } else if (point.y > high.y) {
    high = point;
    low_first = true;
  }
  ++points;
}

void CurveThinner::Bucket::Take(const Bucket& later) {
  const bool lower = later.low.y<low.y, higher = later.high.y> high.y;
  if (lower && higher) {
    low_first = later.low_first;
  } else if (lower) {
    low_first = false;
  } else if (higher) {
    low_first = true;
  }
  if (lower) low = later.low;
  if (higher) high = later.high;
  points += later.points;
}

void CurveThinner::Add(ChartPoint point) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return;
  const auto full = [&] { return buckets_.empty() || buckets_.back().points >= per_bucket_; };
  if (full() && buckets_.size() == limit_) {
    for (size_t i = 0; i + 1 < limit_; i += 2) {
      buckets_[i].Take(buckets_[i + 1]);
      buckets_[i / 2] = buckets_[i];
    }
    if (limit_ % 2 == 1) buckets_[limit_ / 2] = buckets_.back();
    buckets_.resize((limit_ + 1) / 2);
    per_bucket_ *= 2;
  }
  if (full()) buckets_.emplace_back();
  buckets_.back().Take(point);
}

std::vector<ChartPoint> CurveThinner::Points() const {
  std::vector<ChartPoint> points;
  for (const Bucket& bucket : buckets_) {
    points.push_back(bucket.low_first ? bucket.low : bucket.high);
    if (bucket.points > 1) points.push_back(bucket.low_first ? bucket.high : bucket.low);
  }
  return points;
}

Result<std::vector<ChartPoint>> ReadCurve(engine::Context& context, const std::string& run_id,
                                          const std::string& series) {
  TENON_TRY(history::HistoryStore * store, context.History());
  CurveThinner over_steps, over_places;
  double place = 0;
  bool steps_differ = false;
  int64_t first_step = 0;
  TENON_TRY_VOID(store->ReadMetrics(
      run_id, series, [&](const std::string&, const run::MetricPoint& point) -> Status {
        if (!run::IsNumber(point.value)) return {};
        const double y = run::AsDouble(point.value);
        if (place == 0) first_step = point.step;
        steps_differ |= point.step != first_step;
        over_steps.Add({static_cast<double>(point.step), y});
        over_places.Add({place++, y});
        return {};
      }));
  std::vector<ChartPoint> points = steps_differ ? over_steps.Points() : over_places.Points();
  // Steps may be out of order, because several processes may have logged the series at once.
  std::stable_sort(points.begin(), points.end(),
                   [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  return points;
}

std::vector<std::string> DrawableSeries(const journal::RunView& run) {
  std::vector<std::string> names;
  for (const auto& [name, summary] : run.series) {
    if (summary.numbers >= 2) names.push_back(name);
  }
  return names;
}

Status CheckSeries(const journal::RunView& run, const std::string& series) {
  if (run.series.count(series)) return {};
  Error error = NotFound("the run " + run.spec.id + " has no metric " + OneLine(series));
  std::vector<std::string> names;
  for (const auto& [name, summary] : run.series) names.push_back(name);
  if (auto near = DidYouMean(series, names)) {
    error.hint = "did you mean " + OneLine(*near) + "?";
  } else if (names.empty()) {
    error.hint = "it has none; a script logs them with azureml.logging or tenon.log";
  } else {
    const size_t shown = std::min(names.size(), kNamesShown);
    error.hint = "it has: " + OneLine(Join(std::span(names).first(shown), ", ")) +
                 (shown < names.size() ? ", …" : "");
  }
  return error;
}

}  // namespace tenon::cli
