// SPDX-License-Identifier: Apache-2.0
// A whole project judged without running anything: what stops a run, what is not what it seems,
// what is worth knowing. No value of a password is ever in a finding.
#ifndef TENON_PROJECT_CHECK_H_
#define TENON_PROJECT_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::project {

struct Finding {
  enum class Level {
    kError,    // this file, or a run that uses it, cannot work
    kWarning,  // it works, but hardly as meant
    kNote,
  };
  Level level = Level::kNote;
  std::string file;  // relative to the root; "" for the project as a whole
  int line = 0;      // 0: the file as a whole
  int column = 0;
  std::string text;
  std::string hint;
};
std::string_view LevelName(Finding::Level level);  // "error", "warning", "note"

struct Checked {
  std::string root;
  std::string name;
  size_t files = 0;               // that were looked at
  std::vector<Finding> findings;  // by file, then by line
  size_t Count(Finding::Level level) const;
};

// Each file on its own, so that a broken one hides nothing in the others. The error is only for a
// folder that is not there.
Result<Checked> CheckProject(const std::string& cwd, const std::optional<std::string>& project_dir);

}  // namespace tenon::project

#endif  // TENON_PROJECT_CHECK_H_
