// SPDX-License-Identifier: Apache-2.0
// Changes one setting in a project's file and leaves every other byte alone.
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
  std::optional<std::string> value;              // absent: remove the key
  std::optional<std::string> run_configuration;  // -c: its file, or its target's
  std::optional<std::string> target;             // --target: the target's file
};

struct Change {
  std::string key;
  std::string file;                   // relative to the root
  int line = 0;                       // of the value, or of the removed line
  std::optional<std::string> before;  // absent: was not set. Never a password's value
  std::optional<std::string> after;
  bool changed = false;
  std::vector<std::string> notices;
};

// Changes one key; the key decides in which file. kInvalid: an unknown key (with "did you mean"), a
// value of the wrong type, or a password as the value. kNotFound: no such run configuration or
// target, or no such key to remove. The file is written whole or not at all.
Result<Change> SetKey(const Project& project, const SetRequest& request);

// Like SetKey, for several keys of one target's file at once: all or none are changed.
Result<std::vector<Change>> UpdateTarget(
    const Project& project, const std::string& target,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& values);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONFIG_SET_H_
