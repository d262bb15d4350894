// SPDX-License-Identifier: Apache-2.0
// The runner as the first process of a container. It starts the script as the submitting user,
// records the script's output, metrics and exit in its own segment, reaps orphans and passes
// signals on. It reads its job from standard input and stores it nowhere.
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
  std::string door;         // folder where it asks for its segment (executor/segment_door.h)
  std::string metrics;      // folder of the metric files
  std::string work;         // the script's working directory
  std::string shim;         // put first on PYTHONPATH
  std::string interpreter;  // path or name of a program; "python" may mean python3
  std::string script;
  std::vector<std::string> arguments;
  Environment environment;           // added to the image's, overriding it; holds secrets
  std::vector<std::string> secrets;  // values to mask
  Credentials user;
  std::string user_name;
  std::string home;
  std::string image;              // for messages
  bool own_work = false;          // the working directory is not shared: give it to the user
  bool keep_on_fail = false;      // after a script that failed, stay until told to end
  int64_t leftover_grace_us = 0;  // as in script_run.h

  std::string ToText() const;
  static Result<InitJob> FromText(std::string_view text);
};

// The verb `init`. Returns the exit code of the container.
int RunInit();

// Adds `user` to /etc/passwd and /etc/group below `root` if its numbers are missing there, and
// makes /tmp if it is missing. Ignores files that cannot be written.
void SettleUser(const std::string& root, const Credentials& user, const std::string& name,
                const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_INIT_H_
