// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_MATCH_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_MATCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "project/upgrade/upgrade_table.h"

namespace tenon::project {

// `*` in the pattern matches any bytes. Ignores upper and lower case.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// One thing that a file names, with what is known about it.
struct UpgradeThing {
  UpgradeSubject subject;
  std::string text;     // an image, a package's key, an address, an option with its value, a key
  std::string version;  // of an exact pin, else ""
  uint32_t facts = 0;   // the UpgradeWhen flags that hold
  int python = 6;       // minor version of the file's Python 3
};

// The first row of the table that applies; nullptr when none does.
const UpgradeRow* FindUpgrade(const UpgradeThing& thing);

// Whether that release has a wheel for Python 3.`minor`; kUnknown when the table does not know the
// release.
enum class HasWheel { kYes, kNo, kUnknown };
HasWheel FindWheel(std::string_view package_key, std::string_view version, int minor);
// Minor version of the newest Python 3 that the release has a wheel for; -1 when the table does not
// know the release.
int NewestPython(std::string_view package_key, std::string_view version);

// `text` with {name} and the like replaced; unknown names stay.
std::string FillIn(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_MATCH_H_
