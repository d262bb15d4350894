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

// Draws a line chart as text with braille dots, two by four per character. The range of y stands at
// the left, that of x below. Leaves out points that are not finite. Empty if nothing can be drawn.
// `width` and `height` are the size of the whole drawing in characters.
std::string DrawChart(std::string_view title, const std::vector<ChartPoint>& points, int width,
                      int height);

// Draws a line like "▁▃▅▇█", at most `width` characters wide.
std::string DrawSparkline(const std::vector<ChartPoint>& points, int width);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_CHART_H_
