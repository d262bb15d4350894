// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_FREEZE_UNPACK_H_
#define TENON_SNAPSHOT_FREEZE_UNPACK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"

namespace tenon::snapshot {

enum class EntryType : uint8_t { kFile = 1, kSymlink = 2, kFolder = 3 };

struct Entry {
  std::string path;  // relative, forward slashes, bytes as they were
  EntryType type;
  uint32_t mode;       // permission bits
  uint64_t size;       // files: bytes; symlinks: length of the target
  Hash hash;           // files: contents; symlinks: hash of the target; folders: node
  std::string target;  // symlinks only
};

struct Unpacked {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t reflinked = 0;  // files
};

// Trees may refer to the same node many times, so a few kilobytes can describe any number of
// entries. Unpack() and Walk() fail early with kCorrupt on a tree with more entries than this.
inline constexpr uint64_t kMaxEntries = 10'000'000;
// Compare() fails with kInvalid on more differences than this, so that its caller never has to
// write more.
inline constexpr uint64_t kMaxDifferences = 1'000'000;

// Writes the tree into `folder`, which must be empty or absent (else kInvalid). A name that would
// leave the folder ("..", "/", through a symlink) is kCorrupt. Never makes hard links into the
// store.
Result<Unpacked> Unpack(const ObjectStore& store, const Hash& root, const std::string& folder,
                        int threads = 0);

// Visits every entry: folders before their contents, names in byte order. Stops at the first Error
// of `visit`. Memory is bounded by the folders on one path; more than 64 MiB of them is kCorrupt.
Status Walk(const ObjectStore& store, const Hash& root,
            const std::function<Status(const Entry&)>& visit);

// Returns the entry at `path`; kNotFound if there is none.
Result<Entry> Find(const ObjectStore& store, const Hash& root, std::string_view path);

// Adds every object that the tree needs to `out`: nodes and contents.
Status Reachable(const ObjectStore& store, const Hash& root, std::unordered_set<Hash>* out);

// Compares a folder with a tree, for restore. `changed`: entries whose present contents differ.
// `missing`: entries that do not exist in the folder. Ignores files that are not in the tree.
// kInvalid: more than kMaxDifferences differences.
struct Difference {
  std::vector<Entry> changed;
  std::vector<Entry> missing;
};
Result<Difference> Compare(const ObjectStore& store, const Hash& root, const std::string& folder);

// Writes one entry of a tree below `folder` and replaces what exists (atomically for files).
// kInvalid: a symlink, a file or a folder that is not empty is in the way.
Status WriteEntry(const ObjectStore& store, const Entry& entry, const std::string& folder);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_UNPACK_H_
