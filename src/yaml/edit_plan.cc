// SPDX-License-Identifier: Apache-2.0
#include "yaml/edit_plan.h"

#include <algorithm>
#include <charconv>

#include "yaml/scalar.h"

namespace tenon::yaml {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kMark = "\xEF\xBB\xBF";

bool IsBreak(char c) { return c == '\n' || c == '\r'; }

size_t LineBegin(std::string_view bytes, size_t at) {
  while (at > 0 && !IsBreak(bytes[at - 1])) --at;
  return at == 0 && bytes.starts_with(kMark) ? kMark.size() : at;
}

// The first line end at or behind `at`; empty at the end of the file.
Range BreakAfter(std::string_view bytes, size_t at) {
  const size_t begin = std::min(bytes.find_first_of("\r\n", at), bytes.size());
  size_t end = begin;
  if (end < bytes.size() && bytes[end] == '\r') ++end;
  if (end < bytes.size() && bytes[end] == '\n') ++end;
  return {begin, end};
}

std::string LineEndNear(std::string_view bytes, size_t at) {
  Range range = BreakAfter(bytes, at);
  if (range.size() == 0) range = BreakAfter(bytes, 0);
  return range.size() == 0 ? "\n" : std::string(bytes.substr(range.begin, range.size()));
}

// The line end behind the last line of a node. A block text may already include its line end: then
// an empty range at the beginning of the next line.
Range BreakBehind(std::string_view bytes, const Node& node) {
  const size_t end = node.range.end;
  if (end > node.range.begin && IsBreak(bytes[end - 1])) return {end, end};
  return BreakAfter(bytes, end);
}

// Inserts whole lines behind the last line of `node`. A file without a newline at its end stays
// without one.
Splice LinesBehind(std::string_view bytes, const Node& node, const std::string& lines) {
  const Range at = BreakBehind(bytes, node);
  const std::string line_end = LineEndNear(bytes, node.range.begin);
  if (at.size() == 0 && at.begin > 0 && IsBreak(bytes[at.begin - 1])) {
    return {{at.begin, at.begin}, lines + line_end};
  }
  if (at.size() == 0) return {{at.begin, at.begin}, line_end + lines};
  return {{at.end, at.end}, lines + line_end};
}

// How many columns the file indents a value nested in a map; 0: it has no example.
size_t StepOf(const Node& node) {
  if (node.kind == Kind::kMap && node.style == Style::kBlock) {
    for (const Node& child : node.children) {
      if (child.style == Style::kBlock && child.key_position.line < child.position.line &&
          child.position.column > child.key_position.column) {
        return static_cast<size_t>(child.position.column - child.key_position.column);
      }
    }
  }
  for (const Node& child : node.children) {
    if (const size_t step = StepOf(child); step != 0) return step;
  }
  return 0;
}

bool AllKeysQuoted(const Node& map) {
  return !map.children.empty() && std::all_of(map.children.begin(), map.children.end(),
                                              [](const Node& child) { return child.key_quoted; });
}

std::string KeySource(std::string_view bytes, const Node& map, const std::string& name, bool flow,
                      bool json) {
  const bool quoted = AllKeysQuoted(map);
  if (!json && !quoted && CanStandPlain(name, flow)) return name;
  const bool single = quoted && bytes[map.children.back().key_range.begin] == '\'';
  return single && CanBeSingleQuoted(name) ? SingleQuoted(name) : DoubleQuoted(name);
}

// The text between a key and its value. It is taken from the last member if that has only blanks
// and a colon there; else it is a colon and a blank.
std::string ColonOf(std::string_view bytes, const Node& map) {
  if (map.children.empty()) return ": ";
  const Node& last = map.children.back();
  if (last.range.begin <= last.key_range.end) return ": ";
  const std::string_view between =
      bytes.substr(last.key_range.end, last.range.begin - last.key_range.end);
  const bool usual = between.find_first_not_of(" \t:") == kNone && last.range.size() > 0;
  return usual ? std::string(between) : ": ";
}

std::string FlowMember(std::string_view bytes, const Node& map, const Path& names, size_t from,
                       std::string_view source, bool json) {
  const std::string key = KeySource(bytes, map, names[from], true, json);
  std::string colon = ColonOf(bytes, map);
  if (colon.back() == ':' && !key.starts_with('"')) colon += ' ';
  if (from + 1 == names.size()) return key + colon + std::string(source);
  return key + colon + "{" + FlowMember(bytes, Node(), names, from + 1, source, json) + "}";
}

// The lines, without a line end behind the last one.
std::string BlockMember(std::string_view bytes, const Node& map, const Path& names, size_t indent,
                        size_t step, const std::string& line_end, std::string_view source) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += line_end;
    out += std::string(indent + i * step, ' ');
    out += KeySource(bytes, i == 0 ? map : Node(), names[i], false, false) + ":";
  }
  if (!source.empty()) out += " " + std::string(source);
  return out;
}

size_t EntryBegin(const Node& parent, const Node& child) {
  return parent.kind == Kind::kMap ? child.key_range.begin : child.range.begin;
}

// Adds an entry at the end of a list or map in brackets or braces, with the same gap as before the
// last entry.
Splice FlowEntry(std::string_view bytes, const Node& container, const std::string& entry) {
  if (container.children.empty()) {
    return {{container.range.begin + 1, container.range.begin + 1}, entry};
  }
  const Node& last = container.children.back();
  const size_t begin = EntryBegin(container, last);
  const size_t blank_from = [&] {
    size_t at = begin;
    while (at > 0 && std::string_view(" \t\r\n").find(bytes[at - 1]) != kNone) --at;
    return at;
  }();
  std::string gap(bytes.substr(blank_from, begin - blank_from));
  if (gap.find_first_of("\r\n") == kNone && container.children.size() == 1) gap = " ";
  return {{last.range.end, last.range.end}, "," + gap + entry};
}

// Removes the written form of a null that becomes a list or map, with the blank before it.
Splice WithoutNull(std::string_view bytes, const Node& node) {
  Range range = node.range;
  if (range.size() > 0 && range.begin > 0 && bytes[range.begin - 1] == ' ') --range.begin;
  return {range, ""};
}

size_t DashOf(std::string_view bytes, const Node& list, size_t index) {
  if (index == 0) return list.range.begin;
  const size_t column = static_cast<size_t>(list.position.column - 1);
  size_t line = BreakBehind(bytes, list.children[index - 1]).end;
  while (line < bytes.size()) {
    const size_t dash = line + column;
    const size_t first = bytes.find_first_not_of(' ', line);
    if (first == dash && bytes[dash] == '-') return dash;
    line = BreakAfter(bytes, line).end;
  }
  return list.children[index].range.begin;
}

size_t BlockEntryBegin(std::string_view bytes, const Node& parent, size_t index) {
  return parent.kind == Kind::kMap ? parent.children[index].key_range.begin
                                   : DashOf(bytes, parent, index);
}

std::vector<Splice> RemoveInFlow(std::string_view bytes, const Node& parent, size_t index) {
  const Node& child = parent.children[index];
  const size_t begin = EntryBegin(parent, child);
  if (index > 0) {
    const size_t from = parent.children[index - 1].range.end;
    if (bytes.substr(from, begin - from).find('#') == kNone) return {{{from, child.range.end}, ""}};
  } else if (parent.children.size() > 1) {
    return {{{begin, EntryBegin(parent, parent.children[1])}, ""}};
  }
  size_t end = child.range.end;
  const size_t comma = bytes.find_first_not_of(" \t\r\n", end);
  if (comma != kNone && bytes[comma] == ',') end = comma + 1;
  return {{{begin, end}, ""}};
}

}  // namespace

std::string Apply(std::string_view bytes, const std::vector<Splice>& splices) {
  std::vector<Splice> sorted = splices;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Splice& a, const Splice& b) { return a.range.begin < b.range.begin; });
  std::string out;
  size_t at = 0;
  for (const Splice& splice : sorted) {
    out += bytes.substr(at, splice.range.begin - at);
    out += splice.text;
    at = splice.range.end;
  }
  out += bytes.substr(at);
  return out;
}

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

const Node* Step(const Node& node, std::string_view step) {
  if (node.kind == Kind::kMap) return node.Find(step);
  if (node.kind != Kind::kList) return nullptr;
  size_t index = 0;
  const char* end = step.data() + step.size();
  const auto [stopped, error] = std::from_chars(step.data(), end, index);
  if (error != std::errc() || stopped != end || index >= node.children.size()) return nullptr;
  return &node.children[index];
}

Chain Follow(const Document& document, const Path& path) {
  Chain chain{&document.root()};
  for (const std::string& step : path) {
    const Node* next = Step(*chain.back(), step);
    if (next == nullptr) break;
    chain.push_back(next);
  }
  return chain;
}

bool JsonLike(const Document& document, const Chain& chain) {
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    if ((*node)->style != Style::kFlow) continue;
    if ((*node)->kind != Kind::kMap || (*node)->children.empty()) continue;
    const Node& first = (*node)->children.front();
    return first.key_quoted && document.bytes()[first.key_range.begin] == '"';
  }
  return document.flow_root();
}

bool AddsInFlow(const Document& document, const Chain& chain) {
  if (chain.back()->kind != Kind::kNull) return chain.back()->style == Style::kFlow;
  if (chain.size() == 1) return document.flow_root();
  const Node& parent = *chain[chain.size() - 2];
  return parent.style == Style::kFlow || parent.kind == Kind::kList;
}

const Node* Neighbour(const Node& container, Kind kind) {
  for (auto child = container.children.rbegin(); child != container.children.rend(); ++child) {
    if (child->kind == kind) return &*child;
  }
  return nullptr;
}

Splice ReplaceSplice(std::string_view bytes, const Node& node, std::string_view source) {
  Range range = node.range;
  if (node.style == Style::kBlockText) {
    range.end = range.begin + TrimRight(bytes.substr(range.begin, range.size())).size();
  }
  if (source.empty() && range.size() > 0) {
    if (range.begin > 0 && bytes[range.begin - 1] == ' ') --range.begin;
    return {range, ""};
  }
  std::string text(source);
  if (range.size() == 0 && range.begin > 0 && !source.empty()) {
    const char before = bytes[range.begin - 1];
    text = (before == ':' || before == '-' ? " " : ": ") + text;
  }
  return {range, text};
}

std::vector<Splice> AddMemberSplices(const Document& document, const Chain& chain,
                                     const Path& names, std::string_view source) {
  const std::string_view bytes = document.bytes();
  const Node& last = *chain.back();
  const bool json = JsonLike(document, chain);
  if (AddsInFlow(document, chain)) {
    const std::string member = FlowMember(bytes, last, names, 0, source, json);
    if (last.kind == Kind::kNull) return {ReplaceSplice(bytes, last, "{" + member + "}")};
    return {FlowEntry(bytes, last, member)};
  }
  const size_t step = std::max<size_t>(StepOf(document.root()), 2);
  const std::string line_end = LineEndNear(bytes, last.range.begin);
  if (last.kind == Kind::kMap) {
    const Node& child = last.children.back();
    const auto indent = static_cast<size_t>(child.key_position.column - 1);
    const std::string lines = BlockMember(bytes, last, names, indent, step, line_end, source);
    return {LinesBehind(bytes, child, lines)};
  }
  if (chain.size() == 1) {  // an empty file, or only comments
    const std::string lines = BlockMember(bytes, last, names, 0, step, line_end, source);
    const bool open_line = !bytes.empty() && bytes != kMark && !IsBreak(bytes.back());
    return {{{bytes.size(), bytes.size()}, open_line ? line_end + lines : lines + line_end}};
  }
  const size_t indent = static_cast<size_t>(last.key_position.column - 1) + step;
  const std::string lines = BlockMember(bytes, last, names, indent, step, line_end, source);
  return {WithoutNull(bytes, last), LinesBehind(bytes, last, lines)};
}

std::vector<Splice> AppendSplices(const Document& document, const Chain& chain,
                                  std::string_view source) {
  const std::string_view bytes = document.bytes();
  const Node& last = *chain.back();
  const std::string item(source);
  if (AddsInFlow(document, chain)) {
    if (last.kind == Kind::kNull) return {ReplaceSplice(bytes, last, "[" + item + "]")};
    return {FlowEntry(bytes, last, item)};
  }
  if (last.kind == Kind::kNull) {
    const int column = chain.size() == 1 ? 1 : last.key_position.column;
    const std::string line = std::string(static_cast<size_t>(column - 1), ' ') + "- " + item;
    return {WithoutNull(bytes, last), LinesBehind(bytes, last, line)};
  }
  const Node& child = last.children.back();
  const size_t dash = DashOf(bytes, last, last.children.size() - 1);
  std::string gap = " ";
  if (child.range.begin > dash + 1) {
    const std::string_view between = bytes.substr(dash + 1, child.range.begin - dash - 1);
    if (between.find_first_not_of(' ') == kNone) gap = between;
  }
  const std::string indent(static_cast<size_t>(last.position.column - 1), ' ');
  return {LinesBehind(bytes, child, indent + "-" + gap + item)};
}

std::vector<Splice> RemoveSplices(const Document& document, const Node& parent, size_t index) {
  const std::string_view bytes = document.bytes();
  if (parent.style == Style::kFlow) return RemoveInFlow(bytes, parent, index);
  const size_t begin = BlockEntryBegin(bytes, parent, index);
  const Range line_end = BreakBehind(bytes, parent.children[index]);
  const size_t line = LineBegin(bytes, begin);
  if (bytes.substr(line, begin - line).find_first_not_of(' ') != kNone) {
    // The member is on the line of a dash: `- group: x`.
    if (index + 1 < parent.children.size()) {
      return {{{begin, BlockEntryBegin(bytes, parent, index + 1)}, ""}};
    }
    const size_t from = bytes.find_last_not_of(' ', begin - 1) + 1;
    return {{{from, line_end.begin}, ""}};
  }
  const bool open_line = line_end.size() == 0 && !IsBreak(bytes[line_end.begin - 1]);
  if (!open_line) return {{{line, line_end.end}, ""}};
  // The last line of a file without a newline at its end: remove the line end before it too.
  size_t from = line;
  if (from > 0 && bytes[from - 1] == '\n') --from;
  if (from > 0 && bytes[from - 1] == '\r') --from;
  return {{{from, line_end.end}, ""}};
}

}  // namespace tenon::yaml
