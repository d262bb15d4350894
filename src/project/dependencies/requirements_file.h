// SPDX-License-Identifier: Apache-2.0
// Splits a requirements file into lines by the rules of pip: a line that ends in `\` continues, `#`
// after a blank begins a comment, blank lines are skipped. `${NAME}` is left as it is.
#ifndef TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_
#define TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::project {

struct RequirementLine {
  std::string text;  // without comment, line breaks and blanks at the ends
  int line = 0;      // where it begins, counted from 1
};

// `file` is the name in messages. kInvalid when the bytes are not UTF-8 text.
Result<std::vector<RequirementLine>> ParseRequirements(const std::string& file,
                                                       std::string_view bytes);

// Splits a line into the package and what follows it: " ; marker" and " --hash=…".
struct RequirementParts {
  std::string_view head;
  std::string_view tail;  // with its leading blank, or ""
};
RequirementParts SplitRequirement(std::string_view text);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_
