// SPDX-License-Identifier: Apache-2.0
// The lines of a requirements file, by the rules of pip: lines that end in `\` go on, `#` after a
// blank begins a comment, blank lines say nothing. `${NAME}` stays as it is.
#ifndef TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_
#define TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::project {

struct RequirementLine {
  std::string text;  // without comment, blanks at the ends and line breaks
  int line = 0;      // of its first part, from 1
};

// `file` is what messages show. Bytes that are not UTF-8 text are kInvalid.
Result<std::vector<RequirementLine>> ParseRequirements(const std::string& file,
                                                       std::string_view bytes);

// What of a line belongs to the package, and what follows: " ; marker" and " --hash=…".
struct RequirementParts {
  std::string_view head;
  std::string_view tail;  // with its leading blank, or ""
};
RequirementParts SplitRequirement(std::string_view text);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_REQUIREMENTS_FILE_H_
