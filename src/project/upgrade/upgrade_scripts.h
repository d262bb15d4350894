// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_

#include <string>
#include <string_view>

namespace tenon::project {

// What the project's scripts tell about their age. Places look like "train.py:3".
struct ScriptFacts {
  int scripts = 0;            // number of *.py files looked at
  std::string spark;          // first import of pyspark or the like, "" when there is none
  std::string tensorflow;     // first import of tensorflow, "" when there is none
  std::string tensorflow_1x;  // first use of TensorFlow 1.x (sessions, placeholders), or ""
};

// Looks at the *.py files of the project, except in hidden folders, `outputs`, `azureml-logs` and
// aml_config/ itself; at most 4000 files of up to one MiB each. Skips what cannot be read.
ScriptFacts InspectScripts(const std::string& root);
// The same for the bytes of one file: counts it, and sets only those places in `facts` that are
// still empty.
void InspectScript(std::string_view name, std::string_view bytes, ScriptFacts* facts);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_SCRIPTS_H_
