// SPDX-License-Identifier: Apache-2.0
// Changes to a file that leave every other byte alone: comments, order, quotes, indentation, line
// ends, a missing newline at the end. Each function returns the new bytes of the file; they were
// parsed again, and nothing but the value asked for differs, or there is an error and no bytes.
#ifndef TENON_YAML_EDIT_H_
#define TENON_YAML_EDIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/document.h"

namespace tenon::yaml {

// From the root: names of members, positions in lists as decimal numbers from 0.
using Path = std::vector<std::string>;

struct NewValue {
  Kind kind = Kind::kNull;  // kNull, kBool or kText
  std::string text;

  static NewValue Null() { return {}; }
  static NewValue Bool(bool value) { return {Kind::kBool, value ? "true" : "false"}; }
  static NewValue Text(std::string text) { return {Kind::kText, std::move(text)}; }
};

// The node at `path`, nullptr when there is none.
const Node* FindPath(const Document& document, const Path& path);

// Gives the scalar (or null) at `path` another value, written as the old one was: quoted where it
// was quoted, plain where the new value can stand plain, `True` where the file has `False`. A value
// that would read as something else when plain (`yes`, `1e3:`, `[x`) is quoted. A member that is
// not there is added as the last of its map, in the form of its neighbours (one line in block
// style, a member in JSON); missing maps on the way are added too. A list or map is not replaced by
// a scalar: kInvalid.
Result<std::string> Set(const Document& document, const Path& path, const NewValue& value);

// As Set; `source` is written as it is given, quotes included, and has to read as one scalar, a
// flow list or a flow map, or be empty (`key:`). With the bytes of Node::range it puts back exactly
// what was there.
Result<std::string> SetSource(const Document& document, const Path& path, std::string_view source);

// Takes the member or list item away, with its line or lines and the comment behind it. After Set
// added a member, this gives the old bytes, or is refused where lines behind have a say in it. The
// last item of a block list leaves `key:` (null).
Result<std::string> Remove(const Document& document, const Path& path);

// Adds an item behind the last of a list.
Result<std::string> Append(const Document& document, const Path& list, const NewValue& value);

}  // namespace tenon::yaml

#endif  // TENON_YAML_EDIT_H_
