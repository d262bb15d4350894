// SPDX-License-Identifier: Apache-2.0
// Writes new targets and run configurations in the form that the Workbench wrote in 2018: keys in
// alphabetical order, plain values, list items not indented.
#ifndef TENON_PROJECT_ATTACH_H_
#define TENON_PROJECT_ATTACH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// The image of a container target that names none.
inline constexpr std::string_view kDefaultImage = "ubuntu:22.04";

struct AttachRequest {
  std::string type;  // as the user typed it: docker, localdocker, local, remotedocker, …
  std::string name;
  std::string address;
  std::string username;
  std::string python;     // pythonLocation; "": the default of the type
  std::string framework;  // "": Python on this machine, PySpark elsewhere, as the Workbench did
  bool force = false;     // overwrite files of these names
  int64_t port = 0;       // 0: not given
  std::string password_reference = {};  // value of `password:`; "": no such line
  std::vector<std::string> setup = {};  // shell lines
  std::string shared_directory = {};    // nativeSharedDirectory; "": the default
};

struct Attached {
  std::string type;                // as written to the file
  std::string framework;           // as written to the file
  std::vector<std::string> files;  // relative to the root: .compute, .runconfig
};

// Does all checks of Attach, with the same errors, and returns what it would return. Writes
// nothing.
Result<Attached> CheckAttach(const Project& project, const AttachRequest& request);

// Writes NAME.compute and NAME.runconfig, both or neither; if undoing the first fails too, the
// error's hint says so. Never writes a secret. kInvalid: an unknown type, a missing address or user
// name, a name that no file can have, or files that exist already (without `force`).
Result<Attached> Attach(const Project& project, const AttachRequest& request);

// "AzureMlSecret=<target>#<user>#<id>": the name of a secret in our store, not the secret itself.
std::string PasswordReference(const std::string& target, const std::string& user,
                              const std::string& id);
// Whether targets of that type, as the user typed it, are reached by SSH.
bool IsFarType(const std::string& type);

// Writes NAME.runconfig for an existing target and returns the file. `framework` "": Python, or
// PySpark for a Spark cluster. kNotFound: no such target. kInvalid: the file exists already
// (without `force`).
Result<std::string> CreateRunConfiguration(const Project& project, const std::string& name,
                                           const std::string& target, const std::string& framework,
                                           bool force);

}  // namespace tenon::project

#endif  // TENON_PROJECT_ATTACH_H_
