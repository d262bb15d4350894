// SPDX-License-Identifier: Apache-2.0
// Where bytes are cut and put for an edit. Nothing here is proved: edit.cc parses the result.
#ifndef TENON_YAML_EDIT_PLAN_H_
#define TENON_YAML_EDIT_PLAN_H_

#include <string>
#include <string_view>
#include <vector>

#include "yaml/document.h"
#include "yaml/edit.h"

namespace tenon::yaml {

struct Splice {
  Range range;  // taken out
  std::string text;
};
// Splices do not overlap; those at one place are applied in the order given.
std::string Apply(std::string_view bytes, const std::vector<Splice>& splices);

std::string_view TrimRight(std::string_view text);  // blanks, tabs and line ends

const Node* Step(const Node& node, std::string_view step);

// The nodes from the root along a path, as far as it leads; never empty.
using Chain = std::vector<const Node*>;
Chain Follow(const Document& document, const Path& path);

// The place at the end of the chain is written as JSON is: keys in double quotes.
bool JsonLike(const Document& document, const Chain& chain);
// What is added to the end of the chain will stand in brackets or braces.
bool AddsInFlow(const Document& document, const Chain& chain);
// The last value of that kind in a list or map, to look like; nullptr when there is none.
const Node* Neighbour(const Node& container, Kind kind);

Splice ReplaceSplice(std::string_view bytes, const Node& node, std::string_view source);
// Adds `names` (maps but for the last) below the end of the chain, which is a map or null.
std::vector<Splice> AddMemberSplices(const Document& document, const Chain& chain,
                                     const Path& names, std::string_view source);
// Adds an item below the end of the chain, which is a list or null.
std::vector<Splice> AppendSplices(const Document& document, const Chain& chain,
                                  std::string_view source);
std::vector<Splice> RemoveSplices(const Document& document, const Node& parent, size_t index);

}  // namespace tenon::yaml

#endif  // TENON_YAML_EDIT_PLAN_H_
