// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_

#include <string>
#include <string_view>

namespace tenon::project {

// What the project's scripts show about the time they were written in. Places are "train.py:3".
struct ScriptFacts {
  int scripts = 0;            // *.py files looked at
  std::string spark;          // the first that imports pyspark, "" when none does
  std::string tensorflow;     // the first that imports tensorflow
  std::string tensorflow_1x;  // the first that uses it as 1.x: sessions, placeholders
};

// Looks at the *.py files of the project, hidden folders and `outputs` left out; at most a few
// thousand files of a megabyte each. What cannot be read is passed over.
ScriptFacts InspectScripts(const std::string& root);
// The same for one file's bytes; adds to `facts` what is not there yet.
void InspectScript(std::string_view name, std::string_view bytes, ScriptFacts* facts);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_
