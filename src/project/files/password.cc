// SPDX-License-Identifier: Apache-2.0
#include "project/files/password.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "yaml/document.h"

namespace tenon::project {
namespace {

using yaml::Node;
using yaml::Range;
using yaml::Style;

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::string_view kKey = "password";

bool IsPasswordKey(std::string_view key) { return ToLower(Trim(key)) == kKey; }

size_t LineBegin(std::string_view bytes, size_t at) {
  const size_t end = at == 0 ? kNone : bytes.find_last_of("\r\n", at - 1);
  if (end != kNone) return end + 1;
  return bytes.starts_with(kMark) ? std::min(kMark.size(), at) : 0;
}

// The position after the line end of the line that contains `at`.
size_t LineEnd(std::string_view bytes, size_t at) {
  size_t end = bytes.find_first_of("\r\n", at);
  if (end == kNone) return bytes.size();
  if (bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n') ++end;
  return end + 1;
}

bool OnlyBlanks(std::string_view text) { return text.find_first_not_of(" \t") == kNone; }

bool BlankOrComment(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == kNone || text[first] == '#';
}

// The range to remove for a member inside braces: with the comma after it, or for the last member
// with the comma before it.
Range FlowMember(std::string_view bytes, Range member) {
  Range range = member;
  const size_t next = bytes.find_first_not_of(" \t\r\n", range.end);
  const bool comma_behind = next != kNone && bytes[next] == ',';
  if (comma_behind) range.end = next + 1;
  const size_t line = LineBegin(bytes, range.begin);
  const size_t line_end = LineEnd(bytes, range.end);
  const bool own_lines = OnlyBlanks(bytes.substr(line, range.begin - line)) &&
                         BlankOrComment(bytes.substr(range.end, line_end - range.end));
  if (own_lines) {
    range = {line, line_end};
  } else if (comma_behind) {
    range.end = std::min(bytes.find_first_not_of(" \t", range.end), bytes.size());
  }
  if (comma_behind) return range;
  const size_t before = bytes.find_last_not_of(" \t\r\n", range.begin - 1);
  if (before != kNone && bytes[before] == ',' && !own_lines) range.begin = before;
  return range;
}

void CollectMembers(std::string_view bytes, const Node& node, std::vector<Range>* out) {
  for (const Node& child : node.children) {
    if (node.kind == yaml::Kind::kMap && IsPasswordKey(child.key)) {
      const Range member{child.key_range.begin, std::max(child.key_range.end, child.range.end)};
      if (node.style == Style::kFlow) {
        out->push_back(FlowMember(bytes, member));
      } else {
        out->push_back({LineBegin(bytes, member.begin),
                        LineEnd(bytes, std::max(member.begin, member.end - 1))});
      }
    } else {
      CollectMembers(bytes, child, out);
    }
  }
}

// The length of a key `password` (quoted or not) with its colon, if `text` begins with it; else 0.
size_t PasswordKeyLength(std::string_view text) {
  size_t at = 0;
  const char quote = !text.empty() && (text[0] == '"' || text[0] == '\'') ? text[0] : '\0';
  if (quote != '\0') ++at;
  if (ToLower(text.substr(at, kKey.size())) != kKey) return 0;
  at += kKey.size();
  if (quote != '\0') {
    if (at >= text.size() || text[at] != quote) return 0;
    ++at;
  }
  at = text.find_first_not_of(" \t", at);
  return at != kNone && text[at] == ':' ? at + 1 : 0;
}

size_t IndentationOf(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == kNone ? line.size() : first;
}

// Lines whose first word is a password key: those commented out and, unless `comments_only`, all
// others. CollectMembers finds most of the others too, but not `password:x` without a blank, which
// YAML folds into the value above it.
void CollectLines(std::string_view bytes, bool comments_only, std::vector<Range>* out) {
  for (size_t begin = LineBegin(bytes, 0); begin < bytes.size();) {
    const size_t end = LineEnd(bytes, begin);
    const std::string_view line = bytes.substr(begin, end - begin);
    const size_t first = std::min(line.find_first_not_of(" \t-"), line.size() - 1);
    const bool comment = line[first] == '#';
    const size_t word = comment ? line.find_first_not_of("# \t-{,", first) : first;
    if ((comment || !comments_only) && word != kNone && PasswordKeyLength(line.substr(word)) > 0) {
      out->push_back({begin, end});
    }
    begin = end;
  }
}

// For files that do not parse: takes each line with a password key and the lines after it that are
// indented deeper, because the value may continue there.
void CollectSuspects(std::string_view bytes, std::vector<Range>* out) {
  for (size_t begin = LineBegin(bytes, 0); begin < bytes.size();) {
    size_t end = LineEnd(bytes, begin);
    const std::string_view line = bytes.substr(begin, end - begin);
    bool found = false;
    for (size_t at = 0; at < line.size() && !found; ++at) {
      const bool start = at == 0 || std::string_view(" \t{,[-?#\"'").find(line[at - 1]) != kNone;
      found = start && PasswordKeyLength(line.substr(at)) > 0;
    }
    if (found) {
      const size_t indentation = IndentationOf(line);
      while (end < bytes.size()) {
        const size_t next = LineEnd(bytes, end);
        const std::string_view below = bytes.substr(end, next - end);
        if (!Trim(below).empty() && IndentationOf(below) <= indentation) break;
        end = next;
      }
      out->push_back({begin, end});
    }
    begin = end;
  }
}

// Whether a file in another encoding (it contains NUL) contains the word. Its lines cannot be told
// apart.
bool IsForeignWithPassword(std::string_view bytes) {
  if (bytes.find('\0') == kNone) return false;
  std::string letters;
  for (const char c : bytes) {
    if (c != '\0') letters += c;
  }
  return ToLower(letters).find(kKey) != std::string::npos;
}

std::vector<Range> PasswordRanges(std::string_view bytes) {
  if (IsForeignWithPassword(bytes)) return {{0, bytes.size()}};
  std::vector<Range> ranges;
  const Result<yaml::Document> document = yaml::Document::Parse("", std::string(bytes));
  if (document.ok() && document->root().kind == yaml::Kind::kMap) {
    CollectMembers(bytes, document->root(), &ranges);
    CollectLines(bytes, document->flow_root(), &ranges);
  } else {
    CollectSuspects(bytes, &ranges);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return ranges;
}

std::string Without(std::string_view bytes, const std::vector<Range>& ranges) {
  std::string out;
  size_t at = 0;
  for (const Range& range : ranges) {
    if (range.begin > at) out += bytes.substr(at, range.begin - at);
    at = std::max(at, range.end);
  }
  out += bytes.substr(std::min(at, bytes.size()));
  return out;
}

std::string_view LineBreak(std::string_view bytes) {
  return bytes.find("\r\n") != kNone ? "\r\n" : "\n";
}

const Node* PasswordOf(const yaml::Document& document) {
  for (const Node& child : document.root().children) {
    if (IsPasswordKey(child.key)) return &child;
  }
  return nullptr;
}

}  // namespace

std::string RedactPassword(std::string_view bytes) { return Without(bytes, PasswordRanges(bytes)); }

std::string KeepPasswordLine(std::string_view restored, std::string_view present) {
  std::string clean = RedactPassword(restored);
  if (RedactPassword(present) == clean) return std::string(present);
  const Result<yaml::Document> now = yaml::Document::Parse("", std::string(present));
  const Node* password = now.ok() ? PasswordOf(*now) : nullptr;
  if (password == nullptr) return clean;

  const Result<yaml::Document> then = yaml::Document::Parse("", clean);
  const std::string value =
      password->kind == yaml::Kind::kNull ? "null" : json::Print(json::Value(password->text));
  if (then.ok() && then->flow_root()) {
    const size_t inside = then->root().range.begin + 1;
    const std::string comma = then->root().children.empty() ? "" : ", ";
    return clean.substr(0, inside) + "\"password\": " + value + comma + clean.substr(inside);
  }
  // If both files are written in lines, copies the present spelling; else JSON, which every YAML
  // reader accepts.
  const bool as_is = !now->flow_root() &&
                     (password->style == Style::kPlain || password->quoted()) && password->scalar();
  const std::string line =
      "password: " +
      (as_is ? std::string(present.substr(password->range.begin, password->range.size())) : value);
  const std::string line_break(LineBreak(clean.empty() ? present : std::string_view(clean)));
  const bool needs_break = !clean.empty() && clean.back() != '\n' && clean.back() != '\r';
  return clean + (needs_break ? line_break : "") + line + line_break;
}

}  // namespace tenon::project
