// SPDX-License-Identifier: Apache-2.0
// Checks a whole project without running anything: errors that stop a run, settings without effect,
// and notes worth knowing. A finding never contains the value of a password.
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
    kWarning,  // it works, but probably not as meant
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
  size_t files = 0;               // number of files looked at
  std::vector<Finding> findings;  // by file, then by line
  size_t Count(Finding::Level level) const;
};

// Checks each file on its own, so that a broken file does not hide findings in the others. Fails
// only when the project's folder cannot be found.
Result<Checked> CheckProject(const std::string& cwd, const std::optional<std::string>& project_dir);

}  // namespace tenon::project

#endif  // TENON_PROJECT_CHECK_H_
