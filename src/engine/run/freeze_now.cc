// SPDX-License-Identifier: Apache-2.0
#include "engine/run/freeze_now.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/run/private_files.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

constexpr int64_t kKeepUs = int64_t{30} * 24 * 3600 * 1'000'000;
constexpr size_t kShortestPrefix = 8;

// The folder has one empty file for each kept tree. Its name is the tree's root, its time is when
// the tree was kept.
std::string MarksFolder(const Context& context) {
  return JoinPath(context.home.root(), "kept-trees");
}

int64_t ModifiedUs(const std::string& path) {
  struct stat st;
  if (::lstat(path.c_str(), &st) != 0) return 0;
  return int64_t{st.st_mtim.tv_sec} * 1'000'000 + st.st_mtim.tv_nsec / 1000;
}

const char* KindName(snapshot::EntryType type) {
  switch (type) {
    case snapshot::EntryType::kFile:
      return "file";
    case snapshot::EntryType::kSymlink:
      return "symlink";
    case snapshot::EntryType::kFolder:
      return "folder";
  }
  return "";
}

}  // namespace

Result<FrozenNow> FreezeNow(Context& context, const ProjectFolder& folder, Reporter& reporter) {
  TENON_TRY_VOID(EnsureHome(context.home));
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  TENON_TRY_VOID(CheckOutsideHome(context, folder.root));
  snapshot::FreezeOptions options = FreezeOptionsFor(context, folder);
  options.on_progress = [&](uint64_t files, uint64_t) {
    reporter.OnProgress("snapshot", files, 0);
  };
  const int64_t start = context.clock->MonotonicUs();
  TENON_TRY(snapshot::Frozen frozen, snapshot::Freeze(*objects, options));
  FrozenNow now;
  now.duration_us = context.clock->MonotonicUs() - start;
  now.tree = frozen.root.Hex();
  now.kept_tree = frozen.kept_root.Hex();
  now.files = frozen.files;
  now.bytes = frozen.bytes;
  now.files_read = frozen.files_hashed;
  now.bytes_read = frozen.bytes_hashed;
  now.ignored = frozen.ignored;
  now.skipped = std::move(frozen.skipped);
  now.large = std::move(frozen.large);
  for (const run::Notice& notice : PrivateNotices(frozen, folder.root)) reporter.OnNotice(notice);
  for (const snapshot::LeftOut& key : frozen.keys) now.left_out.push_back(key.path);
  now.left_out.insert(now.left_out.end(), frozen.homes.begin(), frozen.homes.end());
  TENON_TRY_VOID(KeepTree(context, now.kept_tree));
  return now;
}

Status ListTree(Context& context, const std::string& tree,
                const std::function<Status(const FrozenFile&)>& visit) {
  const auto root = Hash::FromHex(tree);
  if (!root) return Invalid(tree + " is not the hash of a snapshot");
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  return snapshot::Walk(*objects, *root, [&](const snapshot::Entry& entry) {
    return visit(
        {entry.path, KindName(entry.type), entry.mode, entry.size, entry.hash.Hex(), entry.target});
  });
}

Status KeepTree(Context& context, const std::string& tree) {
  TENON_CHECK(Hash::FromHex(tree).has_value());
  TENON_TRY_VOID(MakeDirs(MarksFolder(context), 0700));
  return WriteFileAtomically(JoinPath(MarksFolder(context), tree), "", 0600,
                             Durability::kPowerLoss);
}

Result<std::vector<std::string>> KeptTrees(Context& context, bool dry_run) {
  auto names = ListDir(MarksFolder(context));
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return std::vector<std::string>{};
    return std::move(names).error();
  }
  std::vector<std::string> kept;
  for (const std::string& name : *names) {
    if (!Hash::FromHex(name)) continue;
    const std::string path = JoinPath(MarksFolder(context), name);
    if (context.clock->NowUs() - ModifiedUs(path) < kKeepUs) {
      kept.push_back(name);
    } else if (!dry_run) {
      TENON_TRY_VOID(RemoveFile(path));
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

Result<std::string> ResolveTree(Context& context, const std::string& prefix) {
  if (prefix.size() < kShortestPrefix) {
    return Invalid("give at least " + std::to_string(kShortestPrefix) +
                   " digits of the snapshot's hash");
  }
  TENON_TRY(auto trees, KeptTrees(context, /*dry_run=*/true));
  std::erase_if(trees, [&](const std::string& tree) { return !tree.starts_with(prefix); });
  if (trees.empty()) {
    return NotFound("no snapshot " + prefix + " is kept")
        .WithHint("those that `tenon snapshot` and `tenon restore` make are kept for 30 days");
  }
  if (trees.size() > 1) {
    return Invalid(prefix + " could be any of " + Join(trees, ", "))
        .WithHint("give more digits of the hash");
  }
  return trees.front();
}

}  // namespace tenon::engine
