// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/heal.h"

#include <sys/stat.h>

#include <unordered_set>

#include "base/file.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/large_object.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/rewrite.h"
#include "snapshot/store/store_files.h"
#include "snapshot/store/tree.h"
#include "snapshot/store/tree_read.h"

namespace tenon::snapshot {
namespace {

class Inspector {
 public:
  explicit Inspector(const ObjectStore& store) : store_(store) {}

  void Look(const Hash& node, const std::string& path, int depth) {
    if (depth > kMaxDepth || !seen_.insert(node).second) return;
    const auto loaded = LoadNode(store_, node);
    if (!loaded.ok()) {
      node_lost = true;
      return Note(node, path.empty() ? "." : path);
    }
    for (const NodeItem& item : loaded->node.items) {
      if (loaded->node.level > 0) {
        Look(item.hash, path, depth);
        continue;
      }
      const std::string below =
          path.empty() ? std::string(item.name) : path + "/" + std::string(item.name);
      if (item.type == EntryType::kFolder) Look(item.hash, below, depth + 1);
      // Empty files are never read from the store.
      if (item.type != EntryType::kFile || item.size == 0) continue;
      if (!seen_.insert(item.hash).second) continue;
      const auto ignore = [](std::string_view) { return Status(); };
      if (!store_.ReadTo(item.hash, ignore).ok()) Note(item.hash, below);
    }
  }

  std::vector<std::string> paths;
  std::vector<Hash> suspects;
  bool node_lost = false;

 private:
  void Note(const Hash& hash, const std::string& path) {
    paths.push_back(path);
    suspects.push_back(hash);
  }

  const ObjectStore& store_;
  std::unordered_set<Hash> seen_;
};

Status Ignore(std::string_view) { return {}; }

// The objects whose bytes may be damaged.
struct Suspects {
  std::unordered_set<Hash> hashes;
  bool all_small = false;
};

// The entries that can be read. Blocks without a suspect are not checked.
std::vector<PackEntry> Readable(const Pack& pack, const std::vector<PackEntry>& entries,
                                const Suspects& suspects) {
  std::unordered_set<uint64_t> blocks;
  for (const PackEntry& entry : entries) {
    if (suspects.all_small || suspects.hashes.contains(entry.hash)) blocks.insert(entry.offset);
  }
  std::vector<PackEntry> readable;
  std::string bytes;
  for (const PackEntry& entry : entries) {
    if (!blocks.contains(entry.offset) || pack.Read(entry, &bytes).ok()) readable.push_back(entry);
  }
  return readable;
}

// Removes damaged objects from a pack. A pack never changes, so a new one is written without them.
// Whoever trusted the old pack by its name (a stat cache) then checks each object.
Result<uint64_t> DropFromPack(const StoreFiles& files, const Pack& pack, const Suspects& suspects) {
  const std::vector<PackEntry> entries = pack.SoundEntries();
  const std::vector<PackEntry> kept = Readable(pack, entries, suspects);
  const uint64_t lost = pack.count() - kept.size();
  if (lost == 0) return 0;
  std::string path;
  if (!kept.empty()) {
    TENON_TRY(const auto ours, WriterFolder::Make(files));
    TENON_TRY(NewPack rewritten, BeginPack(ours.get()));
    TENON_TRY_VOID(CopyEntries(pack, kept, CountBlocks(entries), rewritten.writer.get()));
    TENON_TRY(path, PublishNewPack(files, std::move(rewritten)));
  }
  TENON_TRY(const StoreFiles::Lock lock, files.LockExclusive());
  if (!path.empty()) {
    // The new pack gets the old one's time: whoever relies on the old pack has touched it.
    TENON_TRY(const int64_t modified, ModifiedNs(pack.path()));
    TENON_TRY_VOID(SetModified(path, modified));
  }
  TENON_TRY_VOID(RemoveFile(pack.path()));
  return lost;
}

Result<uint64_t> DropLarge(const StoreFiles& files, const Hash& hash) {
  uint64_t dropped = 0;
  for (const bool compressed : {false, true}) {
    const std::string path = files.LargePath(hash, compressed);
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISREG(info.st_mode) && ReadLarge(path, compressed, hash, Ignore).ok()) continue;
    TENON_TRY(const bool gone, RemoveLarge(files, path, info));
    dropped += gone ? 1 : 0;
  }
  return dropped;
}

}  // namespace

Result<uint64_t> DropDamagedObjects(const std::string& folder, const std::vector<Hash>& suspects,
                                    bool all_small) {
  if (suspects.empty() && !all_small) return 0;
  const StoreFiles files(folder);
  const Suspects all{{suspects.begin(), suspects.end()}, all_small};
  TENON_TRY(const FileLock only_one, FileLock::Take(files.rewrite_lock(), true));
  TENON_TRY(const auto names, ListDir(files.packs()));
  uint64_t dropped = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".pack")) continue;
    const auto pack = Pack::Open(files.packs() + "/" + name);
    if (!pack.ok()) continue;  // its objects are not found anyway
    TENON_TRY(const uint64_t from_pack, DropFromPack(files, **pack, all));
    dropped += from_pack;
  }
  for (const Hash& hash : all.hashes) {
    TENON_TRY(const uint64_t large, DropLarge(files, hash));
    dropped += large;
  }
  return dropped;
}

Result<std::vector<std::string>> DropDamaged(ObjectStore& store, const std::string& folder,
                                             const Hash& root) {
  Inspector inspector(store);
  inspector.Look(root, "", 0);
  if (inspector.suspects.empty()) return std::move(inspector.paths);
  // The objects below a lost node are unknown, so all small objects are checked.
  TENON_TRY_VOID(DropDamagedObjects(folder, inspector.suspects, inspector.node_lost));
  TENON_TRY_VOID(store.Measure());  // lists the packs again
  return std::move(inspector.paths);
}

}  // namespace tenon::snapshot
