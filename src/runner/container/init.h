// SPDX-License-Identifier: Apache-2.0
// The runner as the first process of a container: starts the script as the submitting user, records
// its output, metrics and exit in a segment of its own, takes leave of its orphans, passes signals
// on. What it is to do comes on standard input and is written down nowhere.
#ifndef TENON_RUNNER_CONTAINER_INIT_H_
#define TENON_RUNNER_CONTAINER_INIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::runner {

struct InitJob {
  std::string run_key;
  std::string door;         // executor/segment_door.h: there it gets what it writes
  std::string metrics;      // folder of the metric files
  std::string work;         // the script's working directory
  std::string shim;         // put first on PYTHONPATH
  std::string interpreter;  // program that runs the script: a path or a name; "python" may be
                            // python3
  std::string script;
  std::vector<std::string> arguments;
  Environment environment;           // put over the image's; holds secrets
  std::vector<std::string> secrets;  // values to be masked
  Credentials user;
  std::string user_name;
  std::string home;
  std::string image;              // for messages
  bool own_work = false;          // the working directory is the container's: give it to the user
  bool keep_on_fail = false;      // stay after a script that failed, so that one can enter
  int64_t leftover_grace_us = 0;  // script_run.h

  std::string ToText() const;
  static Result<InitJob> FromText(std::string_view text);
};

// The verb. Returns the exit code of the container.
int RunInit();

// Gives `user` a name in a root's /etc/passwd and /etc/group where it has none, and makes sure
// that there is a /tmp. What cannot be written is left alone.
void SettleUser(const std::string& root, const Credentials& user, const std::string& name,
                const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_INIT_H_
