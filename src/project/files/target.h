// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_FILES_TARGET_H_
#define TENON_PROJECT_FILES_TARGET_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/files/password_form.h"
#include "project/files/settings_file.h"
#include "project/origin.h"
#include "project/project.h"

namespace tenon::project {

// The content of a .compute file, or a built-in target. Holds no password value, so code that uses
// a Target cannot show it.
struct Target {
  std::string name;
  std::string file;           // relative to the root; "" when built in
  Setting<std::string> type;  // a name in types.h
  Setting<std::string> python_location;
  Setting<std::string> native_shared_directory;  // "": no shared folder; may begin with `~`
  Setting<std::string> base_docker_image;        // "": the default image
  Setting<std::string> address;
  Setting<std::string> username;
  Setting<std::string> spark_submit_location;
  Setting<std::string> yarn_deploy_mode;
  Setting<bool> shared_volumes;
  Setting<bool> nvidia_docker;
  Setting<bool> user_managed_environment;
  // Keys of Tenon for containers. Checked, in the forms of run::ContainerSpec.
  Setting<std::string> gpus;
  Setting<int64_t> memory_bytes;
  Setting<int64_t> nano_cpus;
  Setting<int64_t> shm_bytes;
  Setting<std::vector<std::string>> ulimits;
  Setting<bool> read_only_root;
  Setting<std::string> network;
  // Keys of Tenon for other machines.
  Setting<int64_t> port;                    // 0: not given
  Setting<std::vector<std::string>> setup;  // shell lines to run before everything else
  Setting<std::string> tenon_directory;     // absolute path on the machine; "": Tenon chooses
  Setting<int64_t> idle_after_us;           // from whenIdle; 0: no idle command
  std::string idle_command;                 // command to run then
  Setting<PasswordForm> password;           // the kind of value that `password:` has
  std::string password_reference;  // the value if it is a reference (not a secret), else ""
  std::vector<std::string> notices;

  // What must be repaired (values of a wrong type) or filled in before this target can be used,
  // with places.
  std::vector<Error> wrong_types;
  std::vector<Error> unfinished;
};

// The keys of a .compute file.
std::span<const Key> TargetKeys();

// kNotFound, with "did you mean" or the names of the targets that exist.
Error NoSuchTarget(const Project& project, std::string_view name);

// kNotFound when there is neither a file nor a built-in target of that name. An unfinished target
// (no address yet) is not an error here; see `unfinished`.
Result<Target> ReadTarget(const Project& project, std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_TARGET_H_
