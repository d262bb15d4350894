// SPDX-License-Identifier: Apache-2.0
// How a value is written. Pure text, no document.
#ifndef TENON_YAML_SCALAR_H_
#define TENON_YAML_SCALAR_H_

#include <string>
#include <string_view>

namespace tenon::yaml {

// Stands for itself without quotes, in brackets when `in_flow`. Words that any YAML reader of 2017
// took for something else (`yes`, `null`, `true`) do not.
bool CanStandPlain(std::string_view text, bool in_flow);

bool IsJsonNumber(std::string_view text);

// No line break or control character, so single quotes can hold it.
bool CanBeSingleQuoted(std::string_view text);
std::string SingleQuoted(std::string_view text);
// Reads the same in JSON.
std::string DoubleQuoted(std::string_view text);

}  // namespace tenon::yaml

#endif  // TENON_YAML_SCALAR_H_
