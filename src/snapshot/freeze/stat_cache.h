// SPDX-License-Identifier: Apache-2.0
// The hashes that the files of a project had when they were last frozen (docs/formats/snapshot.md §
// 3).
#ifndef TENON_SNAPSHOT_FREEZE_STAT_CACHE_H_
#define TENON_SNAPSHOT_FREEZE_STAT_CACHE_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace tenon::snapshot {

// The parts of a stat that tell whether a file is unchanged.
struct FileStat {
  uint64_t ino = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  uint32_t mode = 0;  // including the type bits

  static FileStat From(const struct stat& info);
  bool operator==(const FileStat&) const = default;
};

enum class CachedKind : uint8_t { kFile = 1, kSymlink = 2, kFolder = 3, kStaysHere = 4 };

struct CachedEntry {
  std::string_view name;
  CachedKind kind = CachedKind::kFile;
  FileStat stat;  // files and symlinks; of a folder only the mode
  Hash hash;      // kStaysHere: zeros
  Hash kept;      // of the copy that the client keeps; equal to `hash` where there is no difference
};

// One folder of a loaded cache. Points into the cache, which must outlive it.
class CachedFolder {
 public:
  const std::vector<Hash>& nodes() const { return nodes_; }
  const std::vector<Hash>& kept_nodes() const { return kept_nodes_; }  // empty: equal to nodes()
  uint32_t count() const { return count_; }
  // The whole record, for copying into the next cache if nothing has changed.
  std::string_view record() const { return record_; }

  // Reads the entry at `at`, which starts at 0, and advances `at`. Entries come in the order they
  // were added. False at the end, and at a damaged entry: its files then count as unknown.
  bool Next(size_t* at, CachedEntry* entry) const;

 private:
  friend class StatCache;
  std::string_view record_;
  std::string_view entries_;
  std::vector<Hash> nodes_, kept_nodes_;
  uint32_t count_ = 0;
};

// A cache loaded from its file. Immutable after SetNow(); any number of threads may use it.
class StatCache {
 public:
  // A missing, damaged or foreign file gives an empty cache.
  static StatCache Load(const std::string& path);
  static StatCache FromBytes(std::string bytes);

  // Sets the file system's present time. Call it before any file is looked at. See Believes().
  void SetNow(int64_t now_ns) { now_ns_ = now_ns; }

  std::optional<CachedFolder> Find(std::string_view path) const;
  // Whether a stat equal to the recorded one proves that the contents are unchanged. It does if the
  // recorded times are more than 2 s older than the cache and, in case the clock was set back, than
  // now.
  bool Believes(const FileStat& recorded) const;
  // The clock was set back since the cache was taken: the cache should be written again.
  bool FromTheFuture() const { return taken_ns_ > now_ns_; }

  bool empty() const { return slots_ == 0; }
  int64_t taken_ns() const { return taken_ns_; }
  // The packs of the store that hold all small objects the cache knows of.
  const std::vector<std::string>& packs() const { return packs_; }

 private:
  std::string bytes_;
  size_t slots_at_ = 0;
  uint32_t slots_ = 0;
  int64_t taken_ns_ = 0;
  int64_t now_ns_ = 0;
  std::vector<std::string> packs_;
};

// Builds the record of one folder.
class CachedFolderBuilder {
 public:
  CachedFolderBuilder(std::string_view path, const std::vector<Hash>& nodes,
                      const std::vector<Hash>& kept_nodes);
  void Add(const CachedEntry& entry);
  std::string Finish();

 private:
  std::string bytes_;
  size_t count_at_;
  uint32_t count_ = 0;
};

// Builds a cache file from records. `taken_ns` is the file system's time before any file was looked
// at.
class StatCacheBuilder {
 public:
  StatCacheBuilder(int64_t taken_ns, const std::vector<std::string>& packs);
  void Add(std::string_view record);  // a whole record, new or from an older cache
  std::string Finish();

 private:
  std::string bytes_;
  std::vector<std::pair<uint32_t, uint64_t>> folders_;  // CRC of the path, position in bytes_
};

// The file system's present time in nanoseconds. Finds it by touching a file beside `path`.
Result<int64_t> FileSystemNow(const std::string& path);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_STAT_CACHE_H_
