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

// What a .compute file says, or what a built-in target is. The password is left where it is:
// nothing that reads this value can show it.
struct Target {
  std::string name;
  std::string file;           // relative to the root; "" when built in
  Setting<std::string> type;  // one of types.h
  Setting<std::string> python_location;
  Setting<std::string> native_shared_directory;  // "" = no shared folder; may begin with `~`
  Setting<std::string> base_docker_image;        // "" = the default image
  Setting<std::string> address;
  Setting<std::string> username;
  Setting<std::string> spark_submit_location;
  Setting<std::string> yarn_deploy_mode;
  Setting<bool> shared_volumes;
  Setting<bool> nvidia_docker;
  Setting<bool> user_managed_environment;
  // Our own, for containers; all checked, in the forms of run::ContainerSpec.
  Setting<std::string> gpus;
  Setting<int64_t> memory_bytes;
  Setting<int64_t> nano_cpus;
  Setting<int64_t> shm_bytes;
  Setting<std::vector<std::string>> ulimits;
  Setting<bool> read_only_root;
  Setting<std::string> network;
  // Our own, for other machines.
  Setting<int64_t> port;                    // 0: not said
  Setting<std::vector<std::string>> setup;  // shell lines before everything else
  Setting<std::string> tenon_directory;     // absolute, there; "" = ours to choose
  Setting<int64_t> idle_after_us;           // whenIdle; 0: nothing is asked for
  std::string idle_command;                 // and what is run then
  Setting<PasswordForm> password;           // what kind of thing is written there
  std::string password_reference;  // the value when it is a reference, which is no secret; else ""
  std::vector<std::string> notices;

  // What is still to be filled in or repaired before this target can be used, with places. The
  // first are values of a wrong type.
  std::vector<Error> wrong_types;
  std::vector<Error> unfinished;
};

// The keys of a .compute file.
std::span<const Key> TargetKeys();

// With "did you mean", or the names there are.
Error NoSuchTarget(const Project& project, std::string_view name);

// kNotFound when there is neither a file nor a built-in target of that name. An unfinished target
// (no address yet) reads fine: only its use can say what it lacks.
Result<Target> ReadTarget(const Project& project, std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_TARGET_H_
