// SPDX-License-Identifier: Apache-2.0
#include "project/upgrade/upgrade_match.h"

#include "base/text.h"
#include "project/dependencies/wheel.h"

namespace tenon::project {
namespace {

bool Glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool MatchesAny(std::string_view patterns, std::string_view text) {
  for (const std::string& pattern : Split(patterns, ' ')) {
    if (MatchesPattern(pattern, text)) return true;
  }
  return false;
}

bool Applies(const UpgradeRow& row, const UpgradeThing& thing) {
  if (row.subject != thing.subject || (row.when & ~thing.facts) != 0) return false;
  if (thing.python < row.python_from || thing.python > row.python_to) return false;
  const bool ranged = !row.from.empty() || !row.below.empty();
  if (ranged && thing.version.empty()) return false;
  if (!row.from.empty() && CompareVersions(thing.version, row.from) < 0) return false;
  if (!row.below.empty() && CompareVersions(thing.version, row.below) >= 0) return false;
  // `*` does not match the words in parentheses, which stand for something missing.
  if (row.match == "*" && thing.text.starts_with('(')) return false;
  return MatchesAny(row.match, thing.text);
}

const WheelRange* FindRange(std::string_view package_key, std::string_view version) {
  const WheelRange* found = nullptr;
  for (const WheelRange& range : WheelRanges()) {
    if (range.package == package_key && CompareVersions(version, range.from) >= 0) found = &range;
  }
  return found;
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  return Glob(ToLower(pattern), ToLower(text));
}

const UpgradeRow* FindUpgrade(const UpgradeThing& thing) {
  for (const UpgradeRow& row : UpgradeRows()) {
    if (Applies(row, thing)) return &row;
  }
  return nullptr;
}

HasWheel FindWheel(std::string_view package_key, std::string_view version, int minor) {
  const WheelRange* range = FindRange(package_key, version);
  if (range == nullptr) return HasWheel::kUnknown;
  return minor >= range->oldest && minor <= range->newest ? HasWheel::kYes : HasWheel::kNo;
}

int NewestPython(std::string_view package_key, std::string_view version) {
  const WheelRange* range = FindRange(package_key, version);
  return range == nullptr ? -1 : range->newest;
}

std::string FillIn(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text = text.substr(open);
    const size_t close = text.find('}');
    const std::string_view name = text.substr(1, close - 1);
    bool known = false;
    for (const auto& [key, value] : values) {
      if (key != name) continue;
      out += value;
      known = true;
      break;
    }
    if (!known) out += text.substr(0, close + 1);
    text = close == std::string_view::npos ? "" : text.substr(close + 1);
  }
  return out;
}

}  // namespace tenon::project
