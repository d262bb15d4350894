// SPDX-License-Identifier: Apache-2.0
// Freezes a project without running anything, and keeps such a snapshot for a while.
#ifndef TENON_ENGINE_RUN_FREEZE_NOW_H_
#define TENON_ENGINE_RUN_FREEZE_NOW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "engine/run/submit.h"

namespace tenon::engine {

struct FrozenNow {
  std::string tree;       // hex root of the tree that a host would get
  std::string kept_tree;  // hex root of the tree kept here; its first 40 digits are a CommitId
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t files_read = 0;  // files that the stat cache could not answer for
  uint64_t bytes_read = 0;
  uint64_t ignored = 0;
  std::vector<std::string> skipped;
  std::vector<std::string> left_out;  // keys, passwords, Tenon homes
  std::vector<std::pair<std::string, uint64_t>> large;
  int64_t duration_us = 0;
};

// Freezes the folder as a submit would, and keeps the snapshot (KeepTree). Makes the home if
// needed.
Result<FrozenNow> FreezeNow(Context& context, const ProjectFolder& folder, Reporter& reporter);

struct FrozenFile {
  std::string path;
  std::string kind;  // "file", "symlink", "folder"
  uint32_t mode = 0;
  uint64_t size = 0;
  std::string hash;    // hex
  std::string target;  // of a symlink
};
// Visits everything in a tree, each folder before its contents.
Status ListTree(Context& context, const std::string& tree,
                const std::function<Status(const FrozenFile&)>& visit);

// Keeps a snapshot (hex root) for 30 days, although no run names it; otherwise it would be garbage.
// Another call starts the 30 days again.
Status KeepTree(Context& context, const std::string& tree);
// The trees that are still kept, sorted. Removes expired marks unless `dry_run`.
Result<std::vector<std::string>> KeptTrees(Context& context, bool dry_run);
// The kept tree whose hex root begins with `prefix` (at least 8 digits, else kInvalid). Fails with
// kNotFound when there is none, and with kInvalid when several fit.
Result<std::string> ResolveTree(Context& context, const std::string& prefix);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_FREEZE_NOW_H_
