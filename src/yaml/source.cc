// SPDX-License-Identifier: Apache-2.0
#include "yaml/source.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace tenon::yaml {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr size_t kNone = std::string_view::npos;

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != kNone; }

// The length of the UTF-8 character that begins here, 0 when it is not valid.
size_t CharLength(std::string_view bytes, size_t at) {
  for (size_t n = 1; n <= 4 && at + n <= bytes.size(); ++n) {
    if (IsUtf8(bytes.substr(at, n))) return n;
  }
  return 0;
}

std::string_view Indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

int FirstColumn(std::string_view line) { return static_cast<int>(Indentation(line).size()) + 1; }

bool HasContent(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != kNone && line[first] != '#';
}

// The index of the colon behind the key, if the line looks like `key: …`, `key:…` or `"key":…`.
size_t KeyEnd(std::string_view line) {
  size_t at = line.find_first_not_of(" \t-");
  if (at == kNone) return kNone;
  if (line[at] == '"' || line[at] == '\'') {
    const size_t close = line.find(line[at], at + 1);
    if (close == kNone) return kNone;
    at = line.find_first_not_of(" \t", close + 1);
    return at != kNone && line[at] == ':' ? at : kNone;
  }
  at = line.find_first_of(":#", at);
  return at != kNone && line[at] == ':' ? at : kNone;
}

// The index of the colon behind a key, if no blank, tab or slash follows it; else kNone.
size_t GluedColon(std::string_view line) {
  const size_t colon = KeyEnd(line);
  if (colon == kNone || colon + 1 >= line.size()) return kNone;
  const char next = line[colon + 1];
  return next == ' ' || next == '\t' || next == '/' ? kNone : colon;
}

// Whether the line begins with `? key`, perhaps as an item of a list.
bool BeginsExplicitKey(std::string_view line) {
  size_t at = line.find_first_not_of(" \t");
  while (at != kNone && line[at] == '-' && at + 1 < line.size() &&
         (line[at + 1] == ' ' || line[at + 1] == '\t')) {
    at = line.find_first_not_of(" \t", at + 1);
  }
  if (at == kNone || line[at] != '?') return false;
  return at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\t';
}

Mistake TabMistake(int line, std::string_view text) {
  const int column = static_cast<int>(Indentation(text).find('\t')) + 1;
  return {{line, column}, "a tab is used as indentation", "indent with blanks"};
}

Mistake GluedMistake(int line, std::string_view text, size_t colon) {
  const std::string key(Trim(text.substr(0, colon)));
  // The value may be a password, so the message names only the key.
  return {{line, static_cast<int>(colon) + 2},
          "a blank is missing behind the colon",
          "write `" + key + ": ` and then the value"};
}

struct Words {
  std::string_view complaint;
  std::string_view what;
  std::string_view hint;
};

constexpr Words kWords[] = {
    {"missing comma", "a comma is missing before this entry",
     "put a comma behind the entry before it"},
    {"did not find expected node content", "a value is missing before this",
     "write it, or `\"\"` for an empty one"},
    {"without closing quote", "the quote opened here is never closed", "close it in the same line"},
    {"invalid nested block mapping on the same line", "a second `: ` in one line",
     "put the value in quotes if the colon belongs to it"},
    {"plain scalar cannot start with", "a value cannot begin with this character",
     "put the value in quotes"},
    {"invalid escape", "a back-slash inside double quotes begins an escape that does not exist",
     "use single quotes, or double the back-slash"},
    {"invalid trailing content after", "there is more text behind the closing quote",
     "put all of the value inside the quotes"},
    {"block sequence on the same line", "a list cannot begin in the line of its key",
     "put the `- ` into a line of its own"},
    {"invalid indentation in mapping", "this line is indented like no line above it",
     "indent it like its neighbours"},
    {"invalid value after mapping", "expected `key: value`",
     "write a key and a colon before the value"},
    {"extra closing", "a closing bracket without an opening one", "remove it"},
};

}  // namespace

Source::Source(std::string_view bytes) : bytes_(bytes) {
  starts_.push_back(0);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const bool lone_cr = bytes_[i] == '\r' && (i + 1 == bytes_.size() || bytes_[i + 1] != '\n');
    if (bytes_[i] == '\n' || lone_cr) starts_.push_back(i + 1);
  }
}

Position Source::PositionOf(size_t offset) const {
  offset = std::min(offset, bytes_.size());
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  Position position;
  position.line = static_cast<int>(next - starts_.begin());
  size_t at = *(next - 1);
  if (at == 0 && bytes_.starts_with(kMark)) at = std::min(kMark.size(), offset);
  for (; at < offset; ++at) {
    if ((static_cast<unsigned char>(bytes_[at]) & 0xC0) != 0x80) ++position.column;
  }
  return position;
}

std::string_view Source::Line(int number) const {
  if (number < 1 || number > line_count()) return {};
  size_t begin = starts_[number - 1];
  const size_t end = number == line_count() ? bytes_.size() : starts_[number];
  if (begin == 0 && bytes_.starts_with(kMark)) begin = kMark.size();
  std::string_view line = bytes_.substr(begin, end - begin);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

std::optional<Mistake> Source::FindForeignBytes() const {
  if (bytes_.starts_with("\xFF\xFE") || bytes_.starts_with("\xFE\xFF")) {
    return Mistake{{1, 1}, "the file is UTF-16", "save it as UTF-8"};
  }
  for (size_t i = 0; i < bytes_.size();) {
    const auto byte = static_cast<unsigned char>(bytes_[i]);
    const bool control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const size_t length = control ? 0 : CharLength(bytes_, i);
    if (length == 0) {
      char what[64];
      std::snprintf(what, sizeof what, "%s (byte 0x%02X)",
                    control ? "not a text file" : "not UTF-8", byte);
      return Mistake{
          PositionOf(i), what,
          control ? "bring back the file as it was, or write it anew" : "save the file as UTF-8"};
    }
    i += length;
  }
  return std::nullopt;
}

std::optional<Mistake> Source::FindTabBesideExplicitKeys() const {
  const size_t tab = bytes_.find('\t');
  if (tab == kNone) return std::nullopt;
  for (int number = 1; number <= line_count(); ++number) {
    if (!BeginsExplicitKey(Line(number))) continue;
    return Mistake{PositionOf(tab), "a tab in a file with keys that begin with `? `",
                   "use blanks, or write `key: value`"};
  }
  return std::nullopt;
}

Mistake Source::Explain(Position at, std::string_view complaint,
                        std::optional<Position> open_bracket) const {
  if (Contains(complaint, "as indentation")) return TabMistake(at.line, Line(at.line));
  if (Contains(complaint, "missing comma") || Contains(complaint, "closing quote")) {
    // libfyaml points behind the opening quote.
    const std::string_view line = Line(at.line);
    const size_t index = static_cast<size_t>(at.column) - 1;
    if (index >= 1 && index <= line.size() && (line[index - 1] == '"' || line[index - 1] == '\'')) {
      --at.column;
    }
  }
  if (open_bracket && Contains(complaint, "without a closing")) {
    return {*open_bracket, "the bracket opened here is never closed",
            "close it, or put the value in quotes if the bracket belongs to it"};
  }
  if (!open_bracket) {
    if (const size_t colon = GluedColon(Line(at.line)); colon != kNone) {
      return GluedMistake(at.line, Line(at.line), colon);
    }
  }
  if (Contains(complaint, "multiline plain key")) {
    // libfyaml names the value that the line of the key would continue. The wrong line is below it.
    for (int line = at.line + 1; line <= line_count(); ++line) {
      const std::string_view text = Line(line);
      if (!HasContent(text)) continue;
      if (Contains(Indentation(text), "\t")) return TabMistake(line, text);
      if (const size_t colon = GluedColon(text); colon != kNone) {
        return GluedMistake(line, text, colon);
      }
      if (KeyEnd(text) == kNone) continue;
      return {{line, FirstColumn(text)},
              "this line is indented deeper than line " + std::to_string(at.line) +
                  ", so it would be part of the value there",
              "indent it like line " + std::to_string(at.line)};
    }
  }
  for (const Words& words : kWords) {
    if (Contains(complaint, words.complaint)) {
      return {at, std::string(words.what), std::string(words.hint)};
    }
  }
  return {at, std::string(complaint), ""};
}

}  // namespace tenon::yaml
