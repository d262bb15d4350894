// SPDX-License-Identifier: Apache-2.0
// A YAML (or JSON) file with positions. Every node has the line and column that a person would look
// at, and the exact bytes it came from. The document keeps those bytes. So a message can point at a
// value, and one value can be changed by replacing Node::range in Document::bytes(), with every
// other byte as before.
//
// Accepted: one document, block or flow style, JSON, CRLF, a byte-order mark, tabs between a colon
// and its value, line breaks inside quotes. Refused, each with its own message: aliases and tags
// (files of this kind don't need them, and aliases can expand without limit), duplicate keys, keys
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

// Counted as editors do: line and column from 1, columns in characters. A tab counts as one
// character, a byte-order mark as none.
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
  kNull,  // an absent value, `~`, `null`
  kBool,  // plain `true`, `false`, `True`, …; `text` is the word as written
  kText,  // any other scalar, also numbers
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

// The kind in words for messages: "text", "a list", …
std::string_view KindName(Kind kind);

struct Node {
  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  std::string text;  // a scalar's value, quotes and folding resolved; "" for null, list, map

  // The value as written, with its quotes, brackets or `|`. A block list or map reaches from its
  // first entry to the end of its last. For an absent value: the empty range just behind the colon
  // or dash, where a blank and a value would go.
  Range range;
  Position position;

  // Only for members of a map.
  std::string key;
  bool key_quoted = false;
  Range key_range;
  Position key_position;

  std::vector<Node> children;  // items or members, in the order of the file

  bool quoted() const { return style == Style::kSingleQuoted || style == Style::kDoubleQuoted; }
  bool scalar() const { return kind == Kind::kBool || kind == Kind::kText; }
  // The member with exactly this name; nullptr when there is none or this is not a map. Owned by
  // this node.
  const Node* Find(std::string_view name) const;
  // The value as a boolean: true and false in any case, quoted or not, and plain yes, no, on, off
  // (booleans to the YAML readers of 2017). nullopt for everything else.
  std::optional<bool> AsBool() const;
};

class Document {
 public:
  // `file_name` is only for messages. Errors are kInvalid and read "file:7:3: what is wrong"; the
  // hint says what to write instead. Files over the limits above are kInvalid too. Never prints.
  static Result<Document> Parse(std::string file_name, std::string bytes);

  // Reads and parses the file at `path`; `file_name` is for messages. kNotFound when it is missing,
  // kInvalid when it is not a regular file.
  static Result<Document> Load(const std::string& path, std::string file_name);

  const Node& root() const { return root_; }  // an empty file has a kNull root
  const std::string& file_name() const { return file_name_; }
  const std::string& bytes() const { return bytes_; }  // with byte-order mark and line ends
  bool flow_root() const { return root_.style == Style::kFlow; }  // the root is [...] or {...}

  // A kInvalid error that points at `at`: "file:7:3: what".
  Error ErrorAt(Position at, std::string_view what) const;

 private:
  Document() = default;
  std::string file_name_;
  std::string bytes_;
  Node root_;
};

}  // namespace tenon::yaml

#endif  // TENON_YAML_DOCUMENT_H_
