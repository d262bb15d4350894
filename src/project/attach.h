// SPDX-License-Identifier: Apache-2.0
// New targets and run configurations, in the form the Workbench wrote in 2018: keys in alphabetical
// order, plain values, list items not indented.
#ifndef TENON_PROJECT_ATTACH_H_
#define TENON_PROJECT_ATTACH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// The image for a container where none is named.
inline constexpr std::string_view kDefaultImage = "ubuntu:22.04";

struct AttachRequest {
  std::string type;  // as the user says it: docker, localdocker, local, remotedocker, …
  std::string name;
  std::string address;
  std::string username;
  std::string python;     // pythonLocation; "" = the usual one of the type
  std::string framework;  // "" = Python here, PySpark elsewhere, as the Workbench had it
  bool force = false;     // overwrite files of that name
  int64_t port = 0;       // 0: not said
  std::string password_reference = {};  // what `password:` says; "" = no such line
  std::vector<std::string> setup = {};  // shell lines
  std::string shared_directory = {};    // nativeSharedDirectory; "" = the usual one
};

struct Attached {
  std::string type;                // as written
  std::string framework;           // as written
  std::vector<std::string> files;  // relative to the root: .compute, .runconfig
};

// What Attach would write, with the same errors; nothing is written.
Result<Attached> CheckAttach(const Project& project, const AttachRequest& request);

// Writes NAME.compute and NAME.runconfig, both or none; no secret is written. kInvalid: no such
// type, no address where one is needed, a name that cannot be a file's, or files that are there.
Result<Attached> Attach(const Project& project, const AttachRequest& request);

// "AzureMlSecret=<target>#<user>#<id>": names a secret of ours without being one.
std::string PasswordReference(const std::string& target, const std::string& user,
                              const std::string& id);
// Whether a machine is reached by SSH for a target of that type, as the user says it.
bool IsFarType(const std::string& type);

// Writes NAME.runconfig for a target that is there. Returns the file.
Result<std::string> CreateRunConfiguration(const Project& project, const std::string& name,
                                           const std::string& target, const std::string& framework,
                                           bool force);

}  // namespace tenon::project

#endif  // TENON_PROJECT_ATTACH_H_
