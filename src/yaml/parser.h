// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_YAML_PARSER_H_
#define TENON_YAML_PARSER_H_

#include <optional>
#include <string_view>

#include "yaml/document.h"
#include "yaml/source.h"

namespace tenon::yaml {

// Fills `root` from `bytes`, which `source` describes and which hold no foreign bytes. The mistake
// is the first one found; then `root` is unspecified. The only place that knows libfyaml.
std::optional<Mistake> ParseInto(std::string_view bytes, const Source& source, Node* root);

}  // namespace tenon::yaml

#endif  // TENON_YAML_PARSER_H_
