// SPDX-License-Identifier: Apache-2.0
// One setting of a project changed in its file, every other byte left alone.
#ifndef TENON_PROJECT_FILES_CONFIG_SET_H_
#define TENON_PROJECT_FILES_CONFIG_SET_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

struct SetRequest {
  std::string key;                               // "nvidiaDocker", "EnvironmentVariables.NAME"
  std::optional<std::string> value;              // absent: the key is taken away
  std::optional<std::string> run_configuration;  // -c: its file, or that of the target it names
  std::optional<std::string> target;             // --target: the target's file
};

struct Change {
  std::string key;
  std::string file;                   // relative to the root
  int line = 0;                       // of the value, or of the line that went
  std::optional<std::string> before;  // absent: there was none. A password is never shown.
  std::optional<std::string> after;
  bool changed = false;
  std::vector<std::string> notices;
};

// The key decides which file it goes to. kInvalid: no such key (with "did you mean"), a value of
// another type, a key that holds a secret. kNotFound: no such run configuration or target, or
// nothing there to take away. The file is written whole or not at all.
Result<Change> SetKey(const Project& project, const SetRequest& request);

// Like SetKey for several keys of one target's file at once: all or none.
Result<std::vector<Change>> UpdateTarget(
    const Project& project, const std::string& target,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& values);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONFIG_SET_H_
