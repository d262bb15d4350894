// SPDX-License-Identifier: Apache-2.0
// Edits of a file that leave every other byte alone: comments, order, quotes, indentation, line
// ends, a missing newline at the end. Each function returns the new bytes of the file and writes
// nothing. The new bytes were parsed again, and only the requested value differs; otherwise the
// function returns an Error (kInvalid, unless said otherwise below).
#ifndef TENON_YAML_EDIT_H_
#define TENON_YAML_EDIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/document.h"

namespace tenon::yaml {

// The way from the root to a node: names of members, and positions in lists as decimal numbers from
// 0.
using Path = std::vector<std::string>;

struct NewValue {
  Kind kind = Kind::kNull;  // kNull, kBool or kText
  std::string text;

  static NewValue Null() { return {}; }
  static NewValue Bool(bool value) { return {Kind::kBool, value ? "true" : "false"}; }
  static NewValue Text(std::string text) { return {Kind::kText, std::move(text)}; }
};

// The node at `path`, nullptr when there is none. Owned by `document`.
const Node* FindPath(const Document& document, const Path& path);

// Replaces the scalar or null at `path`. The new value is written as the old one was: quoted where
// it was quoted, plain where the new value can stand plain, `True` where the file has `False`. A
// value that would read as something else when plain (`yes`, `1e3:`, `[x`) is quoted. A missing
// member is added as the last of its map, in the form of its neighbours (one line in block style, a
// member in JSON); missing maps on the way are added too. kInvalid when a list or map is at `path`,
// or when the value is not UTF-8. May be repeated: a value that is already set leaves the bytes as
// they are.
Result<std::string> Set(const Document& document, const Path& path, const NewValue& value);

// Like Set(), but writes `source` exactly as given, quotes included. It must read as one scalar, a
// flow list or a flow map, or be empty (`key:`). A list or map in flow style can be replaced by
// another. Given the old bytes of Node::range, it restores exactly the old file.
Result<std::string> SetSource(const Document& document, const Path& path, std::string_view source);

// Removes the member or list item, with its line or lines and the comment behind it. After Set()
// has added a member, this restores the old bytes; it is refused where the lines behind the member
// make that impossible. Removing the last entry of a block list or map leaves `key:` (null).
// kNotFound when there is nothing at `path`.
Result<std::string> Remove(const Document& document, const Path& path);

// Adds an item at the end of the list at `list`. A null there becomes a list. kInvalid when
// anything else is there.
Result<std::string> Append(const Document& document, const Path& list, const NewValue& value);

}  // namespace tenon::yaml

#endif  // TENON_YAML_EDIT_H_
