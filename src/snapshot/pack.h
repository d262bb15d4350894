// SPDX-License-Identifier: Apache-2.0
// Pack files: many small objects in one file with an index at its end, docs/formats/snapshot.md
// § 2.
#ifndef TENON_SNAPSHOT_PACK_H_
#define TENON_SNAPSHOT_PACK_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"

namespace tenon::snapshot {

// Objects of this size and more get a file of their own.
inline constexpr uint64_t kLargeObject = 1u << 20;

struct PackEntry {
  Hash hash;
  uint64_t offset = 0;
  uint32_t stored = 0;  // bytes in the pack
  uint32_t raw = 0;     // bytes of the object; equal to `stored`: not compressed
};

// Reads and checks an object from an open pack: `out` is resized to it. kCorrupt when it is
// damaged.
Status ReadPacked(int fd, const PackEntry& entry, std::string* out);

// A finished pack, open for reading. Safe for any number of threads.
class Pack {
 public:
  // Reads and checks the footer. kCorrupt names the file. The index itself is read as it is asked
  // for.
  static Result<std::shared_ptr<Pack>> Open(const std::string& path);
  static Result<std::shared_ptr<Pack>> OpenFd(UniqueFd fd, const std::string& path);

  // Nothing when the object is not here; kCorrupt when the part of the index that would tell is
  // damaged.
  Result<std::optional<PackEntry>> Find(const Hash& hash) const;
  // Every entry, ascending by hash.
  Result<std::vector<PackEntry>> Entries() const;
  Status Read(const PackEntry& entry, std::string* out) const;

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  uint64_t size() const { return size_; }
  uint32_t count() const { return count_; }

  // Whether the present writer has already protected this pack from Collect().
  std::atomic<bool> kept{false};

 private:
  Pack() = default;
  // The entries of one bucket as raw bytes, read and checked once.
  Result<std::string_view> Bucket(uint8_t first) const;

  UniqueFd fd_;
  std::string path_;
  uint64_t size_ = 0;
  uint64_t entries_at_ = 0;
  uint32_t count_ = 0;
  std::array<uint32_t, 256> ends_{};
  std::array<uint32_t, 256> crcs_{};
  mutable std::mutex mutex_;                                 // guards owned_
  mutable std::vector<std::unique_ptr<std::string>> owned_;  // buckets read so far
  mutable std::array<std::atomic<const std::string*>, 256> buckets_{};
};

// Writes a pack into an empty file. Not thread-safe. The file is a pack only after Finish().
class PackWriter {
 public:
  explicit PackWriter(UniqueFd fd);

  // Where an object lies that was added here; nothing if it was not.
  std::optional<PackEntry> Find(const Hash& hash) const;
  // `stored`: the object as it shall lie in the pack, `raw` its real size. Once per hash.
  Status Add(const Hash& hash, std::string_view stored, uint32_t raw);
  // Reads back what was added.
  Status Read(const PackEntry& entry, std::string* out);
  // Writes the index and makes everything durable.
  Status Finish();

  uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  Status Drain();
  size_t Slot(const Hash& hash) const;
  void Grow();

  UniqueFd fd_;
  std::string buffer_;    // not yet written
  uint64_t written_ = 0;  // bytes in the file
  uint64_t writeback_from_ = 0;
  std::vector<PackEntry> entries_;
  std::vector<uint32_t> slots_;  // open addressing into entries_, index + 1; 0: free
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_PACK_H_
