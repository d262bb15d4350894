// SPDX-License-Identifier: Apache-2.0
// A metric as a curve to draw, whatever its length.
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

// Takes any number of points and keeps at most 2 × `buckets`, with every peak: neighbours share a
// bucket that remembers its lowest and highest point, and when all are full pairs of them become
// one. Points that are not finite are left out.
class CurveThinner {
 public:
  explicit CurveThinner(size_t buckets = 512);
  void Add(ChartPoint point);
  std::vector<ChartPoint> Points() const;  // in the order they came

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

// The numeric points of one series, thinned, over its steps (by their place where all steps are
// equal).
Result<std::vector<ChartPoint>> ReadCurve(engine::Context& context, const std::string& run_id,
                                          const std::string& series);

// Names of the series that make a curve: at least two numbers. In order of name.
std::vector<std::string> DrawableSeries(const journal::RunView& run);

// kNotFound with "did you mean" when the run has no such series.
Status CheckSeries(const journal::RunView& run, const std::string& series);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_SERIES_H_
