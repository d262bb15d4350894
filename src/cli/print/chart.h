// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_CHART_H_
#define TENON_CLI_PRINT_CHART_H_

#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

// A line chart in text: braille dots (two by four in a character), the range of y at the left, of x
// below. Points that are not finite are left out. Empty when nothing can be drawn. `width` and
// `height` are characters of the whole drawing.
std::string DrawChart(std::string_view title, const std::vector<ChartPoint>& points, int width,
                      int height);

// One line: "▁▃▅▇█" of at most `width` characters.
std::string DrawSparkline(const std::vector<ChartPoint>& points, int width);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_CHART_H_
