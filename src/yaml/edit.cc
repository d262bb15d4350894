// SPDX-License-Identifier: Apache-2.0
// Every edit is planned as splices of the user's bytes, from the ranges of the nodes. Then it is
// verified: the new bytes are parsed and compared with the expected tree. So YAML in a form that
// the plan does not handle ends in an error, never in a file with another meaning.
#include "yaml/edit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "yaml/edit_plan.h"
#include "yaml/scalar.h"

namespace tenon::yaml {
namespace {

Error NotThisWay(const Document& document, Position at) {
  return document.ErrorAt(at, "this place cannot be changed without touching others")
      .WithHint("nothing was changed; edit the file by hand");
}

// Whether two trees have the same values, however they are written.
bool Same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.key != b.key || a.children.size() != b.children.size()) return false;
  if (a.kind == Kind::kBool ? a.AsBool() != b.AsBool() : a.text != b.text) return false;
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(), Same);
}

Node* Mutable(Node* node, const Path& path) {
  for (const std::string& step : path) node = const_cast<Node*>(Step(*node, step));
  return node;
}

// Lone carriage returns as line ends: no program of the last twenty years writes them. The code
// below does not know where such a line begins and ends, so it refuses.
Status CheckLineEnds(const Document& document) {
  const std::string& bytes = document.bytes();
  for (size_t at = bytes.find('\r'); at != std::string::npos; at = bytes.find('\r', at + 1)) {
    if (at + 1 < bytes.size() && bytes[at + 1] == '\n') continue;
    return document.ErrorAt({1, 1}, "a line ends with a lone carriage return")
        .WithHint("nothing was changed; give the file line ends of today");
  }
  return {};
}

Result<std::string> Prove(const Document& document, const std::vector<Splice>& splices,
                          const Node& expected, Position at) {
  TENON_TRY_VOID(CheckLineEnds(document));
  std::string bytes = Apply(document.bytes(), splices);
  const Result<Document> again = Document::Parse(document.file_name(), bytes);
  if (!again.ok() || !Same(again->root(), expected)) return NotThisWay(document, at);
  return bytes;
}

// Like Prove(), but the value at `path` may be any value, as long as its bytes are exactly
// `source`. The end of a block text depends on the lines behind it, so for a block text only the
// beginning must match.
Result<std::string> ProveSource(const Document& document, const std::vector<Splice>& splices,
                                Node expected, const Path& path, std::string_view source) {
  TENON_TRY_VOID(CheckLineEnds(document));
  const Error refuse = Invalid("expected one value, a list in brackets or a mapping in braces");
  std::string bytes = Apply(document.bytes(), splices);
  const Result<Document> again = Document::Parse(document.file_name(), bytes);
  if (!again.ok()) return refuse;
  const Node* node = FindPath(*again, path);
  if (node == nullptr || node->style == Style::kBlock) return refuse;
  const std::string_view written =
      std::string_view(bytes).substr(node->range.begin, node->range.size());
  const bool whole =
      node->style == Style::kBlockText ? written.starts_with(source) : written == source;
  if (!whole) return refuse;
  *Mutable(&expected, path) = *node;
  if (!Same(again->root(), expected)) return NotThisWay(document, node->position);
  return bytes;
}

// A way to write a value, and the value that it then reads as.
struct Candidate {
  std::string source;
  Node value;
};

Candidate Written(std::string source, Kind kind, std::string text) {
  Candidate out{std::move(source), {}};
  out.value.kind = kind;
  out.value.text = std::move(text);
  return out;
}

// The value of the candidate, with the key of the old value.
Node Keyed(const Candidate& candidate, std::string key) {
  Node node = candidate.value;
  node.key = std::move(key);
  return node;
}

std::string LikeCase(const Node* old, std::string word) {
  if (old == nullptr || !old->AsBool() || old->text.empty()) return word;
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (!upper(old->text[0])) return word;
  const bool all = old->text.size() > 1 && upper(old->text[1]);
  for (size_t i = 0; i < (all ? word.size() : 1); ++i) word[i] = word[i] - 'a' + 'A';
  return word;
}

// The ways to write `value`, best first. `old` is the value to replace, or a neighbour to imitate,
// or nullptr.
std::vector<Candidate> Candidates(const NewValue& value, const Node* old, bool in_flow, bool json) {
  const std::string& text = value.text;
  if (value.kind == Kind::kNull) return {Written("null", Kind::kNull, "")};
  if (value.kind == Kind::kBool) {
    const std::string word = LikeCase(old, ToLower(text));
    if (old != nullptr && old->quoted() && old->AsBool()) {
      const bool single = old->style == Style::kSingleQuoted;
      return {Written(single ? SingleQuoted(word) : DoubleQuoted(word), Kind::kText, word)};
    }
    return {Written(word, Kind::kBool, word)};
  }
  std::vector<Candidate> out;
  const bool number = old != nullptr && old->kind == Kind::kText && IsJsonNumber(text);
  if (old != nullptr && old->style == Style::kSingleQuoted) {
    if (CanBeSingleQuoted(text)) out.push_back(Written(SingleQuoted(text), Kind::kText, text));
  } else if (old != nullptr && old->style == Style::kDoubleQuoted) {
  } else if (json ? number : CanStandPlain(text, in_flow)) {
    out.push_back(Written(text, Kind::kText, text));
  }
  out.push_back(Written(DoubleQuoted(text), Kind::kText, text));
  return out;
}

Result<std::string> Replace(const Document& document, const Chain& chain, const Path& path,
                            const Candidate& candidate) {
  const Node& node = *chain.back();
  Node expected = document.root();
  Node* changed = Mutable(&expected, path);
  *changed = Keyed(candidate, node.key);
  return Prove(document, {ReplaceSplice(document.bytes(), node, candidate.source)}, expected,
               node.position);
}

// Adds the member at `path` to the tree. The first `known` steps of the path exist.
void PutMember(Node* node, const Path& path, size_t known, const Node& value) {
  for (size_t i = 0; i < known; ++i) node = const_cast<Node*>(Step(*node, path[i]));
  for (size_t i = known; i < path.size(); ++i) {
    node->kind = Kind::kMap;
    node->text.clear();
    Node child;
    if (i + 1 == path.size()) child = value;
    child.key = path[i];
    node->children.push_back(std::move(child));
    node = &node->children.back();
  }
}

Result<std::string> Add(const Document& document, const Chain& chain, const Path& path,
                        const Candidate& candidate) {
  const size_t known = chain.size() - 1;
  Node expected = document.root();
  PutMember(&expected, path, known, candidate.value);
  const Path names(path.begin() + static_cast<std::ptrdiff_t>(known), path.end());
  return Prove(document, AddMemberSplices(document, chain, names, candidate.source), expected,
               chain.back()->position);
}

// An Error that says why nothing can be added at the end of this chain, or success.
Status CheckCanAdd(const Document& document, const Chain& chain, const Path& path) {
  const Node& last = *chain.back();
  if (last.kind == Kind::kMap || last.kind == Kind::kNull) return {};
  const std::string& step = path[chain.size() - 1];
  const std::string what =
      last.kind == Kind::kList
          ? "there is no item " + ForTerminal(step) + " in this list"
          : "`" + ForTerminal(step) + "` cannot be added to " + std::string(KindName(last.kind));
  return document.ErrorAt(last.position, what);
}

template <typename Try>
Result<std::string> FirstThatHolds(const std::vector<Candidate>& candidates, Try attempt) {
  std::optional<Error> first;
  for (const Candidate& candidate : candidates) {
    Result<std::string> bytes = attempt(candidate);
    if (bytes.ok()) return bytes;
    if (!first) first = std::move(bytes).error();
  }
  return *first;
}

bool AlreadySo(const Node& node, const NewValue& value) {
  if (value.kind == Kind::kBool) return node.AsBool() == (ToLower(value.text) == "true");
  return node.kind == value.kind && node.text == value.text;
}

Status CheckReplaceable(const Document& document, const Node& node, bool by_container) {
  if (node.kind != Kind::kList && node.kind != Kind::kMap) return {};
  if (by_container && node.style == Style::kFlow) return {};
  return document.ErrorAt(node.position, "this is " + std::string(KindName(node.kind)) +
                                             ", which one value cannot replace");
}

}  // namespace

const Node* FindPath(const Document& document, const Path& path) {
  const Node* node = &document.root();
  for (size_t i = 0; i < path.size() && node != nullptr; ++i) node = Step(*node, path[i]);
  return node;
}

Result<std::string> Set(const Document& document, const Path& path, const NewValue& value) {
  if (!IsUtf8(value.text)) return Invalid("the value is not UTF-8");
  const Chain chain = Follow(document, path);
  const Node& last = *chain.back();
  const bool json = JsonLike(document, chain);
  if (chain.size() == path.size() + 1) {
    TENON_TRY_VOID(CheckReplaceable(document, last, false));
    if (AlreadySo(last, value)) return document.bytes();
    const bool in_flow = chain.size() > 1 && chain[chain.size() - 2]->style == Style::kFlow;
    return FirstThatHolds(Candidates(value, &last, in_flow, json),
                          [&](const Candidate& c) { return Replace(document, chain, path, c); });
  }
  TENON_TRY_VOID(CheckCanAdd(document, chain, path));
  const bool in_flow = AddsInFlow(document, chain);
  const Node* like = Neighbour(last, value.kind);
  return FirstThatHolds(Candidates(value, like, in_flow, json),
                        [&](const Candidate& c) { return Add(document, chain, path, c); });
}

Result<std::string> SetSource(const Document& document, const Path& path, std::string_view source) {
  const Chain chain = Follow(document, path);
  const Node& last = *chain.back();
  const size_t known = chain.size() - 1;
  if (!source.empty() && (source.front() == '|' || source.front() == '>'))
    source = TrimRight(source);
  if (known == path.size()) {
    const bool container = source.starts_with('[') || source.starts_with('{');
    TENON_TRY_VOID(CheckReplaceable(document, last, container));
    return ProveSource(document, {ReplaceSplice(document.bytes(), last, source)}, document.root(),
                       path, source);
  }
  TENON_TRY_VOID(CheckCanAdd(document, chain, path));
  Node expected = document.root();
  PutMember(&expected, path, known, Node());
  const Path names(path.begin() + static_cast<std::ptrdiff_t>(known), path.end());
  return ProveSource(document, AddMemberSplices(document, chain, names, source),
                     std::move(expected), path, source);
}

Result<std::string> Remove(const Document& document, const Path& path) {
  const Chain chain = Follow(document, path);
  if (path.empty() || chain.size() != path.size() + 1) {
    return NotFound(document.file_name() + ": `" + ForTerminal(Join(path, ".")) + "` is not there");
  }
  const Node& parent = *chain[chain.size() - 2];
  const size_t index = static_cast<size_t>(chain.back() - parent.children.data());
  Node expected = document.root();
  Node* container = Mutable(&expected, Path(path.begin(), path.end() - 1));
  container->children.erase(container->children.begin() + static_cast<std::ptrdiff_t>(index));
  if (container->children.empty() && parent.style == Style::kBlock) container->kind = Kind::kNull;
  return Prove(document, RemoveSplices(document, parent, index), expected, chain.back()->position);
}

Result<std::string> Append(const Document& document, const Path& list, const NewValue& value) {
  if (!IsUtf8(value.text)) return Invalid("the value is not UTF-8");
  const Chain chain = Follow(document, list);
  const Node& last = *chain.back();
  const bool there = chain.size() == list.size() + 1;
  if (!there || (last.kind != Kind::kList && last.kind != Kind::kNull)) {
    return document.ErrorAt(last.position,
                            "there is no list `" + ForTerminal(Join(list, ".")) + "` to add to");
  }
  const bool in_flow = AddsInFlow(document, chain);
  const auto attempt = [&](const Candidate& candidate) {
    Node expected = document.root();
    Node* node = Mutable(&expected, list);
    node->kind = Kind::kList;
    node->text.clear();
    node->children.push_back(candidate.value);
    return Prove(document, AppendSplices(document, chain, candidate.source), expected,
                 last.position);
  };
  return FirstThatHolds(
      Candidates(value, Neighbour(last, value.kind), in_flow, JsonLike(document, chain)), attempt);
}

}  // namespace tenon::yaml
