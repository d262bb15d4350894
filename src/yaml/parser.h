// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_YAML_PARSER_H_
#define TENON_YAML_PARSER_H_

#include <optional>
#include <string_view>

#include "yaml/document.h"
#include "yaml/source.h"

namespace tenon::yaml {

// Parses `bytes` into `*root`. `source` is the Source of the same bytes, in which
// FindForeignBytes() found nothing. Returns the first mistake, or nullopt; after a mistake `*root`
// is unspecified. Only parser.cc calls libfyaml.
std::optional<Mistake> ParseInto(std::string_view bytes, const Source& source, Node* root);

}  // namespace tenon::yaml

#endif  // TENON_YAML_PARSER_H_
