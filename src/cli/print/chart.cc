// SPDX-License-Identifier: Apache-2.0
#include "cli/print/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/text.h"

namespace tenon::cli {
namespace {

// Bits of the braille dots of a cell, by column, then by row from the top.
constexpr uint8_t kDots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

std::string Utf8(uint32_t code) {
  std::string text;
  text += static_cast<char>(0xE0 | (code >> 12));
  text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
  text += static_cast<char>(0x80 | (code & 0x3F));
  return text;
}

std::string Short(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

struct Range {
  double low = 0, high = 0;
  // The position of `value` in the range, from 0 to 1; 0.5 if the range is empty. Uses long double,
  // because the difference of two doubles may not fit into a double.
  double At(double value) const {
    if (high <= low) return 0.5;
    return static_cast<double>((static_cast<long double>(value) - low) /
                               (static_cast<long double>(high) - low));
  }
};

std::vector<ChartPoint> Finite(const std::vector<ChartPoint>& points) {
  std::vector<ChartPoint> finite;
  for (const ChartPoint& point : points) {
    if (std::isfinite(point.x) && std::isfinite(point.y)) finite.push_back(point);
  }
  return finite;
}

Range RangeOf(const std::vector<ChartPoint>& points, double ChartPoint::*member) {
  Range range{points.front().*member, points.front().*member};
  for (const ChartPoint& point : points) {
    range.low = std::min(range.low, point.*member);
    range.high = std::max(range.high, point.*member);
  }
  return range;
}

class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<size_t>(columns) * rows, 0) {}
  int dots_wide() const { return columns_ * 2; }
  int dots_high() const { return rows_ * 4; }
  void Dot(int x, int y) {
    cells_[static_cast<size_t>(y / 4) * columns_ + x / 2] |= kDots[x % 2][y % 4];
  }
  void Line(int x0, int y0, int x1, int y1) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      Dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
    }
  }
  std::string Row(int row) const {
    std::string text;
    for (int c = 0; c < columns_; ++c)
      text += Utf8(0x2800 + cells_[static_cast<size_t>(row) * columns_ + c]);
    return text;
  }

 private:
  int columns_, rows_;
  std::vector<uint8_t> cells_;
};

}  // namespace

std::string DrawChart(std::string_view title, const std::vector<ChartPoint>& all, int width,
                      int height) {
  const std::vector<ChartPoint> points = Finite(all);
  if (points.empty() || width < 24 || height < 4) return "";
  const Range x = RangeOf(points, &ChartPoint::x), y = RangeOf(points, &ChartPoint::y);
  const std::string top = Short(y.high), bottom = Short(y.low);
  const int margin = static_cast<int>(std::max(top.size(), bottom.size()));
  const int rows = height - 2;
  Canvas canvas(width - margin - 2, rows);
  int last_x = 0, last_y = 0;
  bool first = true;
  for (const ChartPoint& point : points) {
    const int dot_x = static_cast<int>(std::lround(x.At(point.x) * (canvas.dots_wide() - 1)));
    const int dot_y = static_cast<int>(std::lround((1 - y.At(point.y)) * (canvas.dots_high() - 1)));
    if (first)
      canvas.Dot(dot_x, dot_y);
    else
      canvas.Line(last_x, last_y, dot_x, dot_y);
    first = false;
    last_x = dot_x;
    last_y = dot_y;
  }
  std::string text = std::string(title) + "\n";
  for (int row = 0; row < rows; ++row) {
    std::string label = row == 0 ? top : row == rows - 1 ? bottom : "";
    text += std::string(margin - static_cast<int>(label.size()), ' ') + label + " │" +
            canvas.Row(row) + "\n";
  }
  const std::string left = Short(x.low), right = Short(x.high);
  const int gap = width - margin - 2 - static_cast<int>(left.size() + right.size());
  text += std::string(margin + 2, ' ') + left + std::string(std::max(1, gap), ' ') + right + "\n";
  return text;
}

std::string DrawSparkline(const std::vector<ChartPoint>& all, int width) {
  const std::vector<ChartPoint> points = Finite(all);
  if (points.empty() || width < 1) return "";
  const Range y = RangeOf(points, &ChartPoint::y);
  const size_t cells = std::min<size_t>(points.size(), width);
  std::string text;
  for (size_t i = 0; i < cells; ++i) {
    const size_t index = cells == 1 ? points.size() - 1 : i * (points.size() - 1) / (cells - 1);
    text += Utf8(0x2581 + static_cast<uint32_t>(std::lround(y.At(points[index].y) * 7)));
  }
  return text;
}

}  // namespace tenon::cli
