// SPDX-License-Identifier: Apache-2.0
#include "engine/git.h"

#include <optional>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace tenon::engine {
namespace {

// A repository with a broken hook or a hung network mount must not hold up a submit.
constexpr int kTimeoutMs = 20'000;

}  // namespace

bool IsInRepository(std::string folder) {
  while (true) {
    if (Exists(JoinPath(folder, ".git"))) return true;
    const std::string parent = DirName(folder);
    if (parent == folder || folder == "." || folder.empty()) return false;
    folder = parent;
  }
}

GitState ReadGitState(const std::string& folder) {
  GitState state;
  auto git = [&](std::vector<std::string> arguments) -> std::optional<std::string> {
    // No optional locks: a submit must not disturb a git command the user runs at the same time.
    std::vector<std::string> argv = {"git", "--no-optional-locks", "-C", folder};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto run = RunAndCapture(argv, "", "", kTimeoutMs);
    if (!run.ok()) {
      state.problem = run.error().message;
      return std::nullopt;
    }
    if (run->timed_out) {
      state.problem = "git did not answer within 20 s";
      return std::nullopt;
    }
    if (run->status.AsShell() != 0) {
      state.problem = std::string(Trim(run->err));
      return std::nullopt;
    }
    return std::move(run->out);
  };

  auto head = git({"rev-parse", "--verify", "-q", "HEAD"});
  if (auto branch = git({"symbolic-ref", "-q", "--short", "HEAD"})) state.branch = Trim(*branch);
  state.problem.clear();  // no commit yet and a detached HEAD are states, not problems
  if (!head) return state;
  state.commit = Trim(*head);
  if (auto diff = git({"diff", "HEAD", "--no-color", "--no-ext-diff", "--binary", "--", ".",
                       ":(exclude,glob)**/*.compute"})) {
    state.diff = std::move(*diff);
  }
  return state;
}

}  // namespace tenon::engine
