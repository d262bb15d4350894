// SPDX-License-Identifier: Apache-2.0
// Finds what one tree has and another has not. Two folders at the same path are compared node by
// node, downwards from the first level that both have; a node that both have is not read. Folders
// without a counterpart of the same name wait until the rest of the base is known: they may have
// been moved.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "snapshot/store/store_files.h"
#include "snapshot/store/tree_read.h"
#include "snapshot/transfer/transfer.h"

namespace tenon::snapshot {
namespace {

using Hashes = std::vector<Hash>;

// Nodes of one folder, all of the same level.
struct Level {
  Hashes nodes;
  int level = 0;
};

class TreeDiff {
 public:
  // `on_node` is called for a node that the base may not have, and returns whether to read it.
  // `on_file` is called for such a content. Both may be called for objects that the base has
  // elsewhere, and more than once for the same object.
  TreeDiff(const ObjectStore& store, std::function<bool(const Hash&)> on_node,
           std::function<void(const Hash&, uint64_t)> on_file)
      : store_(store), on_node_(std::move(on_node)), on_file_(std::move(on_file)) {}

  Status Run(const Hash& root, const std::optional<Hash>& base) {
    TENON_TRY_VOID(Compare(root, base, 0));
    if (moved_here_.empty()) return {};
    for (const Hash& folder : only_base_) {
      if (!ReachBase(folder, 0)) return {};
    }
    for (const auto& [folder, depth] : std::exchange(moved_here_, {})) {
      if (!base_folders_.contains(folder)) TENON_TRY_VOID(Compare(folder, std::nullopt, depth));
    }
    return {};
  }

  bool base_unreadable() const { return base_unreadable_; }
  bool InBase(const Hash& hash) const {
    return base_objects_.contains(hash) || base_folders_.contains(hash);
  }

 private:
  struct Below {
    Hash folder;
    std::optional<Hash> base;
  };

  // Loads a node of the new tree; nullopt if `on_node` says not to read it. Only a folder's own
  // node may be empty and of any level.
  Result<std::optional<LoadedNode>> OpenNew(const Hash& hash, const Hash& folder, int level) {
    if (!on_node_(hash)) return std::optional<LoadedNode>();
    TENON_TRY(LoadedNode loaded, LoadNode(store_, hash));
    TENON_EXPECT_PEER(hash == folder || (loaded.node.level == level && !loaded.node.items.empty()),
                      "tree node " + hash.Hex() + " of a wrong level");
    return std::optional<LoadedNode>(std::move(loaded));
  }

  std::optional<LoadedNode> OpenBase(const Hash& hash) {
    auto loaded = LoadNode(store_, hash);
    if (loaded.ok()) return std::move(*loaded);
    base_unreadable_ = true;
    return std::nullopt;
  }

  Status Compare(const Hash& folder, const std::optional<Hash>& base, int depth) {
    TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep");
    if (folder == base || base_unreadable_) return {};
    if (!walked_.insert(folder).second) return {};
    TENON_TRY(const auto top, OpenNew(folder, folder, 0));
    if (!top) return {};
    Level ours{{folder}, top->node.level};
    Level theirs;
    if (base) {
      const auto base_top = OpenBase(*base);
      if (!base_top) return {};
      base_folders_.insert(*base);
      theirs = {{*base}, base_top->node.level};
    }
    std::map<std::string, Hash> base_names;
    TENON_TRY_VOID(Descend(folder, &ours, &theirs));
    for (const Hash& leaf : theirs.nodes) ReadBaseLeaf(leaf, &base_names);
    std::vector<Below> below;
    for (const Hash& leaf : ours.nodes) {
      TENON_TRY_VOID(ReadLeaf(leaf, folder, &base_names, &below));
    }
    for (const auto& [name, hash] : base_names) only_base_.push_back(hash);
    for (const Below& next : below) {
      if (next.base || !base) {
        TENON_TRY_VOID(Compare(next.folder, next.base, depth + 1));
      } else {
        moved_here_.emplace_back(next.folder, depth + 1);
      }
    }
    return {};
  }

  // Replaces the nodes of both sides by their leaves, and drops nodes that both have.
  Status Descend(const Hash& folder, Level* ours, Level* theirs) {
    while (ours->level > 0 || theirs->level > 0) {
      const bool ours_down = ours->level >= theirs->level;
      const bool theirs_down = theirs->level >= ours->level;
      if (ours_down) TENON_TRY_VOID(ExpandOurs(folder, ours));
      if (theirs_down) ExpandTheirs(theirs);
      if (ours->level == theirs->level) DropCommon(&ours->nodes, &theirs->nodes);
    }
    return {};
  }

  void DropCommon(Hashes* ours, Hashes* theirs) {
    const std::unordered_set<Hash> in_theirs(theirs->begin(), theirs->end());
    std::unordered_set<Hash> common;
    std::erase_if(*ours, [&](const Hash& hash) {
      return in_theirs.contains(hash) && (common.insert(hash), true);
    });
    std::erase_if(*theirs, [&](const Hash& hash) { return common.contains(hash); });
    base_objects_.merge(common);
  }

  Status ExpandOurs(const Hash& folder, Level* level) {
    Hashes below;
    for (const Hash& hash : level->nodes) {
      TENON_TRY(const auto loaded, OpenNew(hash, folder, level->level));
      if (!loaded) continue;
      for (const NodeItem& item : loaded->node.items) below.push_back(item.hash);
    }
    *level = {std::move(below), level->level - 1};
    return {};
  }

  void ExpandTheirs(Level* level) {
    Hashes below;
    for (const Hash& hash : level->nodes) {
      base_objects_.insert(hash);
      const auto loaded = OpenBase(hash);
      if (!loaded || loaded->node.level != level->level) {
        base_unreadable_ = true;
        continue;
      }
      for (const NodeItem& item : loaded->node.items) below.push_back(item.hash);
    }
    *level = {std::move(below), level->level - 1};
  }

  void ReadBaseLeaf(const Hash& leaf, std::map<std::string, Hash>* names) {
    base_objects_.insert(leaf);
    const auto loaded = OpenBase(leaf);
    if (!loaded) return;
    for (const NodeItem& item : loaded->node.items) {
      if (item.type == EntryType::kFile) base_objects_.insert(item.hash);
      if (item.type != EntryType::kFolder) continue;
      base_folders_.insert(item.hash);
      names->emplace(item.name, item.hash);
    }
  }

  // Removes the folders that have a counterpart from `base_names`.
  Status ReadLeaf(const Hash& leaf, const Hash& folder, std::map<std::string, Hash>* base_names,
                  std::vector<Below>* below) {
    TENON_TRY(const auto loaded, OpenNew(leaf, folder, 0));
    if (!loaded) return {};
    for (const NodeItem& item : loaded->node.items) {
      if (item.type == EntryType::kFile) on_file_(item.hash, item.size);
      if (item.type != EntryType::kFolder) continue;
      Below next{item.hash, std::nullopt};
      if (auto named = base_names->find(std::string(item.name)); named != base_names->end()) {
        next.base = named->second;
        base_names->erase(named);
      }
      below->push_back(next);
    }
    return {};
  }

  // Records everything below a folder that only the base has. False: it can't be read.
  bool ReachBase(const Hash& folder, int depth) {
    auto reader = FolderReader::Read(store_, folder);
    if (!reader.ok() || depth > kMaxDepth) {
      base_unreadable_ = true;
      return false;
    }
    base_objects_.insert(reader->nodes().begin(), reader->nodes().end());
    for (const NodeItem& item : reader->items()) {
      if (item.type == EntryType::kFile) base_objects_.insert(item.hash);
      if (item.type != EntryType::kFolder || !base_folders_.insert(item.hash).second) continue;
      if (!ReachBase(item.hash, depth + 1)) return false;
    }
    return true;
  }

  const ObjectStore& store_;
  const std::function<bool(const Hash&)> on_node_;
  const std::function<void(const Hash&, uint64_t)> on_file_;
  std::unordered_set<Hash> walked_;        // folders of the new tree
  std::unordered_set<Hash> base_objects_;  // contents and nodes of the base seen so far
  // Folders that the base has with everything in them. A content may have the same hash, so these
  // are kept apart.
  std::unordered_set<Hash> base_folders_;
  Hashes only_base_;
  std::vector<std::pair<Hash, int>> moved_here_;  // with the depth of each
  bool base_unreadable_ = false;
};

constexpr Hash kNoTree{};

// --- marks of complete trees ---

Result<FileLock> LockMarks(const std::string& complete) {
  return FileLock::Take(JoinPath(complete, ".lock"), /*wait=*/true);
}

// Whether the tree was once found complete. Renews the time of its mark.
bool RenewMark(const ObjectStore& store, const std::string& complete, const Hash& root) {
  const std::string mark = JoinPath(complete, root.Hex());
  if (root == kNoTree || !Exists(mark)) return false;
  const auto lock = LockMarks(complete);
  if (!lock.ok()) return false;
  if (!store.Has(root)) {
    (void)RemoveFile(mark).ok();
    return false;
  }
  return StoreFiles::Touch(mark).value_or(false);
}

Status AddMark(const std::string& complete, const Hash& root) {
  TENON_TRY_VOID(MakeDirs(complete, 0700));
  const auto lock = LockMarks(complete);
  if (!lock.ok()) return {};  // without a mark the tree is checked in full every time
  auto made = OpenFile(JoinPath(complete, root.Hex()), O_WRONLY | O_CREAT, 0600);
  if (!made.ok()) return std::move(made).error();
  (void)::futimens(made->get(), nullptr);
  return {};
}

}  // namespace

Status VisitNew(const ObjectStore& store, const Hash& root, const Hash& base,
                const std::function<Status(const Needed&)>& visit) {
  std::vector<Needed> nodes, files;
  std::unordered_set<Hash> seen;
  const auto on_node = [&](const Hash& hash) {
    if (seen.insert(hash).second) nodes.push_back({hash, 0, true});
    return true;
  };
  const auto on_file = [&](const Hash& hash, uint64_t size) {
    if (seen.insert(hash).second) files.push_back({hash, size, false});
  };
  TreeDiff diff(store, on_node, on_file);
  TENON_TRY_VOID(diff.Run(root, base == kNoTree ? std::nullopt : std::optional(base)));
  if (diff.base_unreadable()) return VisitNew(store, root, kNoTree, visit);
  for (const std::vector<Needed>* list : {&nodes, &files}) {
    for (const Needed& needed : *list) {
      if (!diff.InBase(needed.hash)) TENON_TRY_VOID(visit(needed));
    }
  }
  return {};
}

Result<Lacking> FindLacking(ObjectStore& store, const Hash& root, const Hash& base,
                            const std::string& complete) {
  if (RenewMark(store, complete, root)) return Lacking{};
  std::optional<Hash> known;
  if (RenewMark(store, complete, base)) known = base;
  (void)store.Has(root);  // makes objects visible that others have added
  Lacking lacking;
  std::unordered_set<Hash> lacks;
  const auto keep = [&](const Hash& hash, uint64_t size) {
    if (lacks.contains(hash)) return false;
    if (store.Keep(hash, size)) return true;
    lacks.insert(hash);
    lacking.objects.push_back(hash);
    return false;
  };
  TreeDiff diff(
      store, [&](const Hash& hash) { return keep(hash, 0); },
      [&](const Hash& hash, uint64_t size) { (void)(diff.InBase(hash) || keep(hash, size)); });
  TENON_TRY_VOID(diff.Run(root, known));
  if (diff.base_unreadable()) {
    ForgetTree(complete, base);
    return FindLacking(store, root, kNoTree, complete);
  }
  if (!lacking.objects.empty()) return lacking;
  TENON_TRY_VOID(store.Flush());
  TENON_TRY_VOID(AddMark(complete, root));
  return lacking;
}

Result<std::vector<Hash>> ForgetOldTrees(const std::string& complete, int64_t min_age_us,
                                         const std::unordered_set<Hash>& stay) {
  std::vector<Hash> kept;
  if (!IsDirectory(complete)) return kept;
  TENON_TRY(const FileLock lock, LockMarks(complete));
  TENON_TRY(const auto names, ListDir(complete));
  const int64_t horizon_us = SystemClock().NowUs() - min_age_us;
  for (const std::string& name : names) {
    const auto hash = Hash::FromHex(name);
    struct stat info;
    const std::string path = JoinPath(complete, name);
    if (!hash || ::stat(path.c_str(), &info) != 0) continue;
    if (stay.contains(*hash) || Nanoseconds(info.st_mtim) / 1000 >= horizon_us) {
      kept.push_back(*hash);
    } else {
      TENON_TRY_VOID(RemoveFile(path));
    }
  }
  return kept;
}

void ForgetTree(const std::string& complete, const Hash& root) {
  (void)RemoveFile(JoinPath(complete, root.Hex())).ok();
}

}  // namespace tenon::snapshot
