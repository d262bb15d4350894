// SPDX-License-Identifier: Apache-2.0
// A YAML (or JSON) file with positions. Every node knows the line and column a person would look at
// and the exact bytes it came from, and the document keeps those bytes: a message can point at a
// value, and a single value can be replaced by splicing Node::range in Document::bytes(), leaving
// every other byte alone.
//
// What is taken: one document, block or flow style, JSON, CRLF, a byte-order mark, tabs between a
// colon and its value, line breaks inside quotes. What is refused, each with a message of its own:
// aliases and tags (no file of this kind needs them, and aliases can blow up), duplicate keys, keys
// that are not text, a second document, text that is not UTF-8, more than the limits below.
#ifndef TENON_YAML_DOCUMENT_H_
#define TENON_YAML_DOCUMENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::yaml {

inline constexpr size_t kMaxBytes = 1u << 20;
inline constexpr size_t kMaxDepth = 32;
inline constexpr size_t kMaxNodes = 20'000;

// As editors count: from 1, columns in characters, a tab and a byte-order mark being one and none.
struct Position {
  int line = 1;
  int column = 1;
  bool operator==(const Position&) const = default;
};

// Bytes [begin, end) of Document::bytes().
struct Range {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

enum class Kind {
  kNull,  // nothing, `~`, `null`
  kBool,  // plain `true`, `false`, `True`, …; `text` has it as written
  kText,  // any other scalar, numbers too
  kList,
  kMap,
};

// How the value is written. The style of an absent value (`key:`) is kPlain with an empty range.
enum class Style {
  kPlain,
  kSingleQuoted,
  kDoubleQuoted,
  kBlockText,  // | or >
  kFlow,       // [a, b] and {a: b}
  kBlock,      // one entry per line
};

// "text", "a list", … as messages say it.
std::string_view KindName(Kind kind);

struct Node {
  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  std::string text;  // a scalar's value after quotes, escapes and folding; "" for null, list, map

  // The value as written: with its quotes, its brackets, its `|`. A block list or map reaches from
  // its first entry to the end of its last. Where nothing is written, the empty range just behind
  // the colon or dash (where a blank and a value would go).
  Range range;
  Position position;

  // Members of a map only.
  std::string key;
  bool key_quoted = false;
  Range key_range;
  Position key_position;

  std::vector<Node> children;  // of a list or map, in the order of the file

  bool quoted() const { return style == Style::kSingleQuoted || style == Style::kDoubleQuoted; }
  bool scalar() const { return kind == Kind::kBool || kind == Kind::kText; }
  // The member of that name, compared exactly; nullptr when there is none or this is no map.
  const Node* Find(std::string_view name) const;
  // true, false in any of their spellings, quoted or not, and plain yes, no, on, off (booleans to
  // the YAML readers of 2017). Nothing for all else.
  std::optional<bool> AsBool() const;
};

class Document {
 public:
  // `file_name` is only for messages. Errors are kInvalid and read "file:7:3: what is wrong", the
  // hint says what to write instead. Never prints. Lists and maps deeper or larger than the limits
  // above are errors, as is a file over kMaxBytes.
  static Result<Document> Parse(std::string file_name, std::string bytes);

  // Reads `path` and parses it; `file_name` for messages. Not there: kNotFound.
  static Result<Document> Load(const std::string& path, std::string file_name);

  const Node& root() const { return root_; }  // an empty file has a kNull root
  const std::string& file_name() const { return file_name_; }
  const std::string& bytes() const { return bytes_; }  // the source, mark and line ends included
  bool flow_root() const { return root_.style == Style::kFlow; }  // written as JSON is

  // An error that points at `at`: "file:7:3: what".
  Error ErrorAt(Position at, std::string_view what) const;

 private:
  Document() = default;
  std::string file_name_;
  std::string bytes_;
  Node root_;
};

}  // namespace tenon::yaml

#endif  // TENON_YAML_DOCUMENT_H_
