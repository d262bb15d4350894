// SPDX-License-Identifier: Apache-2.0
// The types of targets. A new type is one new row in types.cc.
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
  std::string_view name;       // as written after `type:`
  HostKind host;               // which machine the runner runs on
  LaunchKind launch;           // how the runner is started there
  run::ExecutorKind executor;  // how it starts the script
  bool user_python;            // uses the user's own Python unless userManagedEnvironment decides
  bool supported;              // this version can run it

  // For keys that only one kind of executor has: whether files of this type have it. False for all
  // other keys.
  bool HasKey(std::string_view key) const;
};

std::span<const TargetType> TargetTypes();
// nullptr when there is no such type. The name must match exactly.
const TargetType* FindTargetType(std::string_view name);
// The names in the order of the table: "local", "localdocker", …
std::vector<std::string> TargetTypeNames(bool supported_only = false);

}  // namespace tenon::project

#endif  // TENON_PROJECT_TYPES_H_
