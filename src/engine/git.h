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

// Whether `folder` lies in a git repository: a few look-ups, no program is run.
bool IsInRepository(std::string folder);

// The state of the repository that holds `folder`, restricted to that folder. Runs `git` several
// times, so start it beside other work.
GitState ReadGitState(const std::string& folder);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_GIT_H_
