// SPDX-License-Identifier: Apache-2.0
// Reads a metric of any length as a curve to draw.
#ifndef TENON_CLI_PRINT_SERIES_H_
#define TENON_CLI_PRINT_SERIES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/print/chart.h"
#include "engine/context.h"
#include "journal/fold.h"

namespace tenon::cli {

// Takes any number of points and keeps at most 2 × `buckets` of them, with every peak. A bucket
// holds the lowest and the highest of some neighbouring points. When all buckets are full, pairs of
// them are merged. Ignores points that are not finite.
class CurveThinner {
 public:
  explicit CurveThinner(size_t buckets = 512);
  void Add(ChartPoint point);
  std::vector<ChartPoint> Points() const;  // in the order they were added

 private:
  struct Bucket {
    ChartPoint low, high;
    bool low_first = true;
    size_t points = 0;
    void Take(ChartPoint point);
    void Take(const Bucket& later);
  };
  size_t limit_;
  size_t per_bucket_ = 1;
  std::vector<Bucket> buckets_;
};

// Reads the numeric points of one series, thinned. x is the step, or the position if all steps are
// equal.
Result<std::vector<ChartPoint>> ReadCurve(engine::Context& context, const std::string& run_id,
                                          const std::string& series);

// The names of series that can be drawn: those with at least two numbers. Sorted.
std::vector<std::string> DrawableSeries(const journal::RunView& run);

// kNotFound with "did you mean" if the run has no such series.
Status CheckSeries(const journal::RunView& run, const std::string& series);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_SERIES_H_
