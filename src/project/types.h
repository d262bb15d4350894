// SPDX-License-Identifier: Apache-2.0
// The kinds of targets: a new kind of machine is one new row here.
#ifndef TENON_PROJECT_TYPES_H_
#define TENON_PROJECT_TYPES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/spec.h"

namespace tenon::project {

enum class HostKind { kHere, kSsh, kHereOrSsh };
enum class LaunchKind { kDirect, kSlurm };

struct TargetType {
  std::string_view name;       // as written behind `type:`
  HostKind host;               // which machine the runner runs on
  LaunchKind launch;           // how it is started there
  run::ExecutorKind executor;  // how it starts the script
  bool user_python;            // the user's own Python unless userManagedEnvironment says otherwise
  bool supported;              // this version can run it

  // Whether a file of this type may have the key; of those that not all kinds of executors have.
  bool HasKey(std::string_view key) const;
};

std::span<const TargetType> TargetTypes();
// nullptr when there is no such type. Compared exactly.
const TargetType* FindTargetType(std::string_view name);
// "local, localdocker, …" in the order of the table.
std::vector<std::string> TargetTypeNames(bool supported_only = false);

}  // namespace tenon::project

#endif  // TENON_PROJECT_TYPES_H_
