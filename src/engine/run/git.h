// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_GIT_H_
#define TENON_ENGINE_RUN_GIT_H_

#include <string>
#include <vector>

namespace tenon::engine {

// A value of run::RunSpec::git_diff_object: it is not known whether the tracked files equal the
// commit.
inline constexpr const char* kGitUnknown = "unknown";

struct GitState {
  std::string commit;  // 40 hex digits (64 of SHA-256); "" before the first commit
  std::string branch;  // "" when detached
  std::string diff;    // uncommitted changes of tracked files against HEAD, without .compute files;
                       // may be empty
  // Tracked files and submodules that may have changed, but were not compared: checked-out
  // submodules, and files with a filter (LFS), because git would have to run the filter. Sorted.
  std::vector<std::string> not_compared;
  std::string problem;  // why commit or diff is not known, for a notice
};

// Whether `folder` lies in a git repository. Looks at a few paths and runs no program.
bool IsInRepository(const std::string& folder);

// The state of the repository that holds `folder`, restricted to that folder. Runs `git` several
// times, 20 s at most in all, so callers start it beside other work.
//
// Runs no program that the repository's or the user's configuration names: no hook, file system
// monitor, filter, diff driver, pager or helper. Writes nothing to the repository and takes no lock
// in it. A file counts as unchanged only if git itself finds it unchanged. Marks in the index
// (assume-unchanged, or skip-worktree of an existing file) do not count.
GitState ReadGitState(const std::string& folder);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_GIT_H_
