// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_GIT_H_
#define TENON_ENGINE_GIT_H_

#include <string>

namespace tenon::engine {

struct GitState {
  std::string commit;  // 40 hex digits; "" before the first commit
  std::string branch;  // "" when detached
  std::string diff;    // uncommitted changes of tracked files against HEAD, without .compute files;
                       // may be empty
  std::string problem;  // why commit or diff are not known, for a notice
};

// The state of the git repository that holds `folder`, restricted to that folder. nullopt: not in
// one. Costs nothing where no parent has a .git; else it runs `git`, so start it beside other work.
std::optional<GitState> ReadGitState(const std::string& folder);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_GIT_H_
