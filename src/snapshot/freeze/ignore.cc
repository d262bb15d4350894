// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/ignore.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tenon::snapshot {
namespace {

constexpr std::string_view kSpecial = "*?[\\";

// Removes blanks at the end, except those after a backslash. Tabs stay.
std::string_view TrimTrailingBlanks(std::string_view line) {
  size_t keep = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') continue;
    if (line[i] == '\\') {
      if (i + 1 == line.size()) return line;
      ++i;
    }
    keep = i + 1;
  }
  return line.substr(0, keep);
}

std::string_view LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Whether a part of the pattern other than dots and slashes stands for itself.
bool HasName(std::string_view pattern) {
  bool in_brackets = false;
  for (const char c : pattern) {
    if (c == '[') in_brackets = true;
    if (!in_brackets && std::strchr("*?/.\\", c) == nullptr) return true;
    if (c == ']') in_brackets = false;
  }
  return false;
}

}  // namespace

IgnoreRules IgnoreRules::Parse(std::string_view text) {
  IgnoreRules rules;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line[0] == '#') continue;
    if (line.back() == '\r') line.remove_suffix(1);
    line = line.substr(0, line.find('\0'));
    rules.AddLine(TrimTrailingBlanks(line));
  }
  for (auto& [name, list] : rules.by_name_) std::reverse(list.begin(), list.end());
  std::reverse(rules.suffixes_.begin(), rules.suffixes_.end());
  std::reverse(rules.basenames_.begin(), rules.basenames_.end());
  std::reverse(rules.paths_.begin(), rules.paths_.end());
  return rules;
}

void IgnoreRules::AddLine(std::string_view line) {
  Rule rule;
  if (!line.empty() && line[0] == '!') {
    rule.negative = true;
    line.remove_prefix(1);
  }
  if (!line.empty() && line.back() == '/') {
    rule.folders_only = true;
    line.remove_suffix(1);
  }
  if (line.empty()) return;  // "!", "/": match nothing
  rule.names = HasName(line);
  const auto index = static_cast<uint32_t>(rules_.size());
  const bool has_slash = line.find('/') != std::string_view::npos;
  if (line[0] == '/') line.remove_prefix(1);
  const size_t plain = std::min(line.find_first_of(kSpecial), line.size());

  if (!has_slash && line[0] == '*' && line.find_first_of(kSpecial, 1) == std::string_view::npos) {
    rule.prefix = line.substr(1);
    suffixes_.push_back(index);
  } else {
    rule.prefix = line.substr(0, plain);
    rule.has_glob = plain < line.size();
    // As in git, a "**" right after the plain part counts as if it began a pattern.
    if (rule.has_glob) rule.glob = Glob::Compile(line.substr(plain));
    if (has_slash) {
      paths_.push_back(index);
    } else if (rule.has_glob) {
      basenames_.push_back(index);
    } else {
      by_name_[rule.prefix].push_back(index);
    }
  }
  rules_.push_back(std::move(rule));
}

bool IgnoreRules::MatchesPath(const Rule& rule, std::string_view path) const {
  if (!path.starts_with(rule.prefix)) return false;
  path.remove_prefix(rule.prefix.size());
  return rule.has_glob ? rule.glob.Matches(path) : path.empty();
}

Verdict IgnoreRules::Match(std::string_view path, bool is_folder) const {
  if (rules_.empty()) return Verdict::kNone;
  const std::string_view name = LastPart(path);
  int64_t best = -1;
  // Takes the first rule of a list that matches, which is the last in the file, if it comes after
  // the best rule so far.
  auto look = [&](const std::vector<uint32_t>& list, auto matches) {
    for (uint32_t index : list) {
      if (index <= best) return;
      const Rule& rule = rules_[index];
      if ((is_folder || !rule.folders_only) && matches(rule)) {
        best = index;
        return;
      }
    }
  };
  if (!by_name_.empty()) {
    thread_local std::string key;
    key.assign(name);
    if (auto found = by_name_.find(key); found != by_name_.end()) {
      look(found->second, [](const Rule&) { return true; });
    }
  }
  look(suffixes_, [&](const Rule& rule) { return name.ends_with(rule.prefix); });
  look(basenames_, [&](const Rule& rule) { return MatchesPath(rule, name); });
  look(paths_, [&](const Rule& rule) { return MatchesPath(rule, path); });
  if (best < 0) return Verdict::kNone;
  const Rule& rule = rules_[static_cast<size_t>(best)];
  if (!rule.negative) return Verdict::kIgnored;
  return rule.names ? Verdict::kKept : Verdict::kKeptByWildcard;
}

std::string PatternFor(std::string_view path) {
  std::string pattern = "/";
  for (const char c : path) {
    if (std::strchr("*?[]\\!# ", c) != nullptr) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

Verdict MatchScopes(const IgnoreScope* scope, std::string_view path, bool is_folder) {
  for (; scope; scope = scope->above.get()) {
    const Verdict verdict = scope->rules.Match(path.substr(scope->base), is_folder);
    if (verdict != Verdict::kNone) return verdict;
  }
  return Verdict::kNone;
}

}  // namespace tenon::snapshot
