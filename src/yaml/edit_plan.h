// SPDX-License-Identifier: Apache-2.0
// Plans an edit: which bytes are removed and inserted. Nothing here is verified; edit.cc parses the
// result.
#ifndef TENON_YAML_EDIT_PLAN_H_
#define TENON_YAML_EDIT_PLAN_H_

#include <string>
#include <string_view>
#include <vector>

#include "yaml/document.h"
#include "yaml/edit.h"

namespace tenon::yaml {

struct Splice {
  Range range;  // the bytes to remove
  std::string text;
};
// Splices must not overlap. Several at the same place are applied in the order given.
std::string Apply(std::string_view bytes, const std::vector<Splice>& splices);

std::string_view TrimRight(std::string_view text);  // removes blanks, tabs and line ends

// The member or item of `node` that `step` names; nullptr when there is none.
const Node* Step(const Node& node, std::string_view step);

// The nodes from the root along a path, as far as they exist; never empty.
using Chain = std::vector<const Node*>;
Chain Follow(const Document& document, const Path& path);

// Whether the file is written like JSON at the end of the chain: keys in double quotes.
bool JsonLike(const Document& document, const Chain& chain);
// Whether something added at the end of the chain will be inside brackets or braces.
bool AddsInFlow(const Document& document, const Chain& chain);
// The last child of this kind, as an example for a new value; nullptr when there is none.
const Node* Neighbour(const Node& container, Kind kind);

// Replaces the value of `node` by `source`; empty `source` leaves an absent value.
Splice ReplaceSplice(std::string_view bytes, const Node& node, std::string_view source);
// Adds members below the end of the chain, which is a map or null: each of `names` inside the one
// before, and `source` as the value of the last.
std::vector<Splice> AddMemberSplices(const Document& document, const Chain& chain,
                                     const Path& names, std::string_view source);
// Adds an item to the end of the chain, which is a list or null.
std::vector<Splice> AppendSplices(const Document& document, const Chain& chain,
                                  std::string_view source);
// Removes child `index` of `parent`.
std::vector<Splice> RemoveSplices(const Document& document, const Node& parent, size_t index);

}  // namespace tenon::yaml

#endif  // TENON_YAML_EDIT_PLAN_H_
