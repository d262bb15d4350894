// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_

#include <string>
#include <vector>

#include "project/dependencies/conda_file.h"

namespace tenon::project {

// What is wrong with a conda file that reads well.
struct DependencyFinding {
  enum class Level {
    kError,    // cannot be installed on Linux x86-64 with the file's Python
    kWarning,  // names something that is gone
    kNote,     // worth knowing
  };
  Level level = Level::kNote;
  int line = 0;
  int column = 0;
  std::string text;  // "`https://…/x-1.0-cp35-cp35m-win_amd64.whl`: a wheel for Windows …"
  std::string hint;  // what to write, "" when there is no advice
  std::string rule;  // "wheel-system", "wheel-python", or the id of a row of the upgrade table
};

// Wheels for another system or another Python, things that are gone, and the licence history of
// 1-bit SGD. In the order of the file. Its own notices (CondaFile::notices) are not among them.
std::vector<DependencyFinding> CheckDependencies(const CondaFile& file);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_CHECK_H_
