// SPDX-License-Identifier: Apache-2.0
#include "run/segment.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "run/layout.h"

namespace tenon::run {
namespace {

constexpr std::string_view kNear = "near-", kRank = "rank-", kSampler = "sampler-";
constexpr size_t kMostDigits = 6;
constexpr size_t kMostName = 64;

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && (text == "0" || text[0] != '0') &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsWord(std::string_view text) {
  return !text.empty() && text.size() <= kMostName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

std::optional<SegmentKind> KindOfSegment(std::string_view name) {
  if (name == kHostSegment) return SegmentKind::kHost;
  if (name == kScriptSegment) return SegmentKind::kScript;
  if (name.starts_with(kNear) && IsWord(name.substr(kNear.size()))) return SegmentKind::kNear;
  if (name.starts_with(kRank) && IsNumber(name.substr(kRank.size()))) return SegmentKind::kRank;
  if (name.starts_with(kSampler) && IsWord(name.substr(kSampler.size()))) {
    return SegmentKind::kSampler;
  }
  return std::nullopt;
}

bool IsFarSegment(std::string_view name) {
  const auto kind = KindOfSegment(name);
  return kind && *kind != SegmentKind::kNear;
}

std::vector<std::string> FarSegmentsOf(const std::vector<std::string>& file_names) {
  std::vector<std::string> segments;
  for (std::string_view name : file_names) {
    if (!name.ends_with(kSegmentSuffix)) continue;
    name.remove_suffix(kSegmentSuffix.size());
    if (IsFarSegment(name)) segments.emplace_back(name);
  }
  // Of two numbers without leading zeros the longer one is larger.
  std::ranges::sort(segments, {}, [](const std::string& name) {
    const SegmentKind kind = *KindOfSegment(name);
    return std::tuple(kind, kind == SegmentKind::kRank ? name.size() : 0, name);
  });
  if (segments.size() > kMostFarSegments) segments.resize(kMostFarSegments);
  return segments;
}

}  // namespace tenon::run
