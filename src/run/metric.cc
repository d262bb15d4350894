// SPDX-License-Identifier: Apache-2.0
#include "run/metric.h"

#include <charconv>
#include <cmath>

namespace tenon::run {
namespace {

std::string FormatNumber(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

std::string FormatList(const std::vector<double>& numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ", ";
    text += FormatNumber(numbers[i]);
  }
  return text + "]";
}

// An upper bound of the bytes that a value takes before compression.
size_t ValueBytes(const MetricValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size() + 5;
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return list->size() * 8 + 5;
  return 10;
}

size_t PointBytes(const MetricPoint& point) {
  constexpr size_t kStepAndTime = 8;  // deltas: rarely more than three bytes each
  return kStepAndTime + ValueBytes(point.value);
}

size_t BlockOverhead(const MetricBlock& block) {
  return block.series.size() + block.source.size() + 32;
}

// Collects blocks into groups of about `max_bytes`.
class Grouper {
 public:
  explicit Grouper(size_t max_bytes) : max_bytes_(max_bytes) {}

  void AddWhole(MetricBlock block) {
    size_t bytes = BlockOverhead(block);
    for (const MetricPoint& point : block.points) bytes += PointBytes(point);
    MakeRoom(bytes);
    bytes_ += bytes;
    groups_.back().push_back(std::move(block));
  }

  void AddInParts(MetricBlock block) {
    MetricBlock part;
    size_t bytes = BlockOverhead(block);
    for (MetricPoint& point : block.points) {
      size_t more = PointBytes(point);
      if (!part.points.empty() && bytes + more > max_bytes_) {
        part.series = block.series;
        AddWhole(std::move(part));
        part = {};
        bytes = BlockOverhead(block);
      }
      bytes += more;
      part.points.push_back(std::move(point));
    }
    part.series = std::move(block.series);
    AddWhole(std::move(part));
  }

  std::vector<std::vector<MetricBlock>> Take() { return std::move(groups_); }

 private:
  void MakeRoom(size_t bytes) {
    if (!groups_.empty() && bytes_ + bytes <= max_bytes_) return;
    groups_.emplace_back();
    bytes_ = 0;
  }

  size_t max_bytes_;
  size_t bytes_ = 0;  // in the last group
  std::vector<std::vector<MetricBlock>> groups_;
};

}  // namespace

std::vector<std::vector<MetricBlock>> SplitMetricBlocks(std::vector<MetricBlock> blocks,
                                                        size_t max_bytes) {
  Grouper grouper(max_bytes);
  for (MetricBlock& block : blocks) {
    if (block.source.empty()) {
      grouper.AddInParts(std::move(block));
    } else {
      grouper.AddWhole(std::move(block));
    }
  }
  return grouper.Take();
}

bool IsNumber(const MetricValue& value) { return value.index() <= 2; }

double AsDouble(const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::nan("");
}

std::string FormatMetric(const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return FormatNumber(*number);
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return FormatList(std::get<std::vector<double>>(value));
}

}  // namespace tenon::run
