// SPDX-License-Identifier: Apache-2.0
// What the files of a project hashed to when they were last looked at, docs/formats/snapshot.md
// § 3.
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

// What of a stat tells whether a file is still the same.
struct FileStat {
  uint64_t ino = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  uint32_t mode = 0;  // with the type

  static FileStat From(const struct stat& info);
  bool operator==(const FileStat&) const = default;
};

enum class CachedKind : uint8_t { kFile = 1, kSymlink = 2, kFolder = 3, kStaysHere = 4 };

struct CachedEntry {
  std::string_view name;
  CachedKind kind = CachedKind::kFile;
  FileStat stat;  // files and symlinks; of a folder only the mode
  Hash hash;      // kStaysHere: zeros
  Hash kept;      // of the copy kept here; equal to `hash` where there is no difference
};

// One folder in a loaded cache. Views into it; valid as long as the cache.
class CachedFolder {
 public:
  const std::vector<Hash>& nodes() const { return nodes_; }
  const std::vector<Hash>& kept_nodes() const { return kept_nodes_; }  // empty: the same
  uint32_t count() const { return count_; }
  // The whole record, to be copied into the next cache if nothing has changed.
  std::string_view record() const { return record_; }

  // Entries in the order in which they were added. `at` starts at 0 and is moved on; false at the
  // end (or where the record is damaged, which looks like files that are not known).
  bool Next(size_t* at, CachedEntry* entry) const;

 private:
  friend class StatCache;
  std::string_view record_;
  std::string_view entries_;
  std::vector<Hash> nodes_, kept_nodes_;
  uint32_t count_ = 0;
};

// A cache as loaded from its file. Immutable; any number of threads may ask.
class StatCache {
 public:
  // A missing, damaged or foreign file yields an empty cache.
  static StatCache Load(const std::string& path);
  static StatCache FromBytes(std::string bytes);

  // Says what time it is for the file system, before anything is looked at. See Believes().
  void SetNow(int64_t now_ns) { now_ns_ = now_ns; }

  std::optional<CachedFolder> Find(std::string_view path) const;
  // Whether a stat equal to the recorded one proves that the contents are the same: its times are
  // old enough, both against when the cache was taken and, if the clock was set back, against now.
  bool Believes(const FileStat& recorded) const;
  // The clock was set back since: the cache should be written anew.
  bool FromTheFuture() const { return taken_ns_ > now_ns_; }

  bool empty() const { return slots_ == 0; }
  int64_t taken_ns() const { return taken_ns_; }
  // The packs of the store in which all objects it knows of lie, but the large ones.
  const std::vector<std::string>& packs() const { return packs_; }

 private:
  std::string bytes_;
  size_t slots_at_ = 0;
  uint32_t slots_ = 0;
  int64_t taken_ns_ = 0;
  int64_t now_ns_ = 0;
  std::vector<std::string> packs_;
};

// Makes the record of one folder.
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

// Makes a cache file from records. `taken_ns`: the file system's time before anything was looked
// at.
class StatCacheBuilder {
 public:
  StatCacheBuilder(int64_t taken_ns, const std::vector<std::string>& packs);
  void Add(std::string_view record);  // a whole record, new or from an older cache
  std::string Finish();

 private:
  std::string bytes_;
  std::vector<std::pair<uint32_t, uint64_t>> folders_;  // CRC of the path, where
};

// The file system's present time in nanoseconds where `path` shall lie, by touching a file beside
// it.
Result<int64_t> FileSystemNow(const std::string& path);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_STAT_CACHE_H_
