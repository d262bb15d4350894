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

// A tree is made of nodes that may be named often, so a few kilobytes can stand for any number of
// entries. No tree with more than this is written or walked to its end: kCorrupt, before much is
// done.
inline constexpr uint64_t kMaxEntries = 10'000'000;
// And no more than this may have to be written by Compare()'s caller.
inline constexpr uint64_t kMaxDifferences = 1'000'000;

// Writes the tree into `folder`, which must be empty or absent. Names that would leave the folder
// ("..", "/", through a symlink) are kCorrupt. Never hard links into the store.
Result<Unpacked> Unpack(const ObjectStore& store, const Hash& root, const std::string& folder,
                        int threads = 0);

// Every entry, folders before what is in them, names in byte order. Stops at the first Error of
// `visit`. Memory is bounded by the folders on one path, and those by 64 MiB (kCorrupt beyond).
Status Walk(const ObjectStore& store, const Hash& root,
            const std::function<Status(const Entry&)>& visit);

// One entry by path; kNotFound.
Result<Entry> Find(const ObjectStore& store, const Hash& root, std::string_view path);

// Every object the tree needs: nodes, contents.
Status Reachable(const ObjectStore& store, const Hash& root, std::unordered_set<Hash>* out);

// Compares a folder with a tree, for restore: paths in the tree whose present contents differ, and
// those that are not there. Files the tree does not know are not looked at. kInvalid when there are
// more than kMaxDifferences.
struct Difference {
  std::vector<Entry> changed;
  std::vector<Entry> missing;
};
Result<Difference> Compare(const ObjectStore& store, const Hash& root, const std::string& folder);

// Writes one entry of a tree below `folder`, replacing what is there (atomically for files).
Status WriteEntry(const ObjectStore& store, const Entry& entry, const std::string& folder);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_UNPACK_H_
