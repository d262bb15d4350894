// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_

#include <string>
#include <vector>

#include "project/dependencies/conda_file.h"

namespace tenon::project {

// A problem in a conda file that can be read.
struct DependencyFinding {
  enum class Level {
    kError,    // cannot be installed on Linux x86-64 with the file's Python
    kWarning,  // names something that no longer exists
    kNote,     // worth knowing
  };
  Level level = Level::kNote;
  int line = 0;
  int column = 0;
  std::string text;  // "`https://…/x-1.0-cp35-cp35m-win_amd64.whl`: a wheel for Windows …"
  std::string hint;  // what to write; "" when there is no advice
  std::string rule;  // "wheel-system", "wheel-python", or the id of a row of the upgrade table
};

// Finds wheels for another system or another Python, things that no longer exist, and the licence
// history of 1-bit SGD. In the order of the file. Does not include the file's own notices
// (CondaFile::notices).
std::vector<DependencyFinding> CheckDependencies(const CondaFile& file);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_
