// SPDX-License-Identifier: Apache-2.0
// How a scalar is written in YAML. Works on text alone, without a document.
#ifndef TENON_YAML_SCALAR_H_
#define TENON_YAML_SCALAR_H_

#include <string>
#include <string_view>

namespace tenon::yaml {

// Whether `text` can be written without quotes; `in_flow`: inside brackets or braces. False for
// words that a YAML reader of 2017 takes for something else (`yes`, `null`, `true`).
bool CanStandPlain(std::string_view text, bool in_flow);

bool IsJsonNumber(std::string_view text);

// Whether single quotes can hold `text`: it has no line breaks and no control characters.
bool CanBeSingleQuoted(std::string_view text);
std::string SingleQuoted(std::string_view text);
// The result reads the same in YAML and in JSON.
std::string DoubleQuoted(std::string_view text);

}  // namespace tenon::yaml

#endif  // TENON_YAML_SCALAR_H_
