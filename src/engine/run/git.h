// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_GIT_H_
#define TENON_ENGINE_RUN_GIT_H_

#include <string>
#include <vector>

namespace tenon::engine {

// In run::RunSpec::git_diff_object: it is not known whether all tracked files are as the commit has
// them.
inline constexpr const char* kGitUnknown = "unknown";

struct GitState {
  std::string commit;  // 40 hex digits (64 of SHA-256); "" before the first commit
  std::string branch;  // "" when detached
  std::string diff;    // uncommitted changes of tracked files against HEAD, without .compute files;
                       // may be empty
  // Tracked files and submodules of which it is not known whether they have changed: those under a
  // filter (LFS), which would have to be run. Sorted.
  std::vector<std::string> not_compared;
  std::string problem;  // why commit or diff are not known, for a notice
};

// Whether `folder` lies in a git repository: a few look-ups, no program is run.
bool IsInRepository(const std::string& folder);

// The state of the repository that holds `folder`, restricted to that folder. Runs `git` several
// times, so start it beside other work; all of it takes 20 s at most.
//
// No program that the repository's or the user's configuration names is run: no hook, file system
// monitor, filter, diff driver, pager or helper. Nothing in the repository is written, no lock is
// taken. A file counts as unchanged only if git finds it so by itself: marks in the index
// (assume-unchanged, skip-worktree of a file that is there) do not count.
GitState ReadGitState(const std::string& folder);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_GIT_H_
