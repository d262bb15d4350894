// SPDX-License-Identifier: Apache-2.0
// Pack files: many small objects in one file with an index at its end, docs/formats/snapshot.md
// § 2.
#ifndef TENON_SNAPSHOT_STORE_PACK_H_
#define TENON_SNAPSHOT_STORE_PACK_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"

namespace tenon::snapshot {

// Objects of this size and more get a file of their own.
inline constexpr uint64_t kLargeObject = 1u << 20;

// Small files are compressed together in blocks of about this size. Compared with compressing each
// by itself that saves a quarter of the time and a fifth of the space. Files are added and read in
// tree order, so a block is decompressed once for all its files.
inline constexpr size_t kBlock = 128u << 10;
// Objects of this size and more get a block of their own.
inline constexpr size_t kOwnBlock = 32u << 10;

// Where an object lies in a pack.
struct PackEntry {
  Hash hash;
  uint64_t offset = 0;     // of the block in the pack
  uint32_t stored = 0;     // bytes of the block in the pack
  uint32_t block_raw = 0;  // bytes of the block; equal to `stored` if it is not compressed
  uint32_t at = 0;         // offset of the object in the block
  uint32_t raw = 0;        // bytes of the object
};

// A finished pack, open for reading. Any number of threads may use it.
class Pack {
 public:
  // Reads and checks the footer. kCorrupt names the file. The parts of the index are read when
  // needed.
  static Result<std::shared_ptr<Pack>> Open(const std::string& path);
  static Result<std::shared_ptr<Pack>> OpenFd(UniqueFd fd, const std::string& path);

  // Empty if the pack does not have the object. kCorrupt: the part of the index that would list it
  // is damaged.
  Result<std::optional<PackEntry>> Find(const Hash& hash) const;
  // Every entry, ascending by hash.
  Result<std::vector<PackEntry>> Entries() const;
  // The entries in those parts of the index that can be read.
  std::vector<PackEntry> SoundEntries() const;
  // Reads the object and checks its hash. Each thread remembers the last block it decompressed.
  Status Read(const PackEntry& entry, std::string* out) const;
  // Reads the block of an entry as it is stored.
  Status ReadBlock(const PackEntry& entry, std::string* stored) const;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  uint32_t count() const { return count_; }

  // whether the current writer has already protected this pack from Collect()
  std::atomic<bool> kept{false};

 private:
  Pack();
  // The entries of one bucket as raw bytes. Read and checked once.
  Result<std::string_view> Bucket(uint8_t first) const;

  UniqueFd fd_;
  const uint64_t id_;  // unique among all packs that this process has opened
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

// Writes a pack into an empty file. Not thread-safe. Threads that share a writer can compress
// outside their lock: Append() may return a full block, which the caller compresses and passes to
// Place(). The file is a valid pack only after Finish().
class PackWriter {
 public:
  explicit PackWriter(UniqueFd fd);

  struct FullBlock {
    uint32_t index;
    std::string_view bytes;  // valid until Place()
  };

  bool Has(const Hash& hash) const { return slots_[Slot(hash)] != 0; }
  // Adds a small object to the open block of `group` (a thread). Call it once per hash.
  std::optional<FullBlock> Append(const Hash& hash, std::string_view bytes, uint64_t group);
  // Stores a full block, compressed as `frame`; if `frame` is empty, uncompressed.
  Status Place(const FullBlock& block, std::string_view frame);
  // Adds a block with one object. The object is compressed if `stored` is shorter than `raw`.
  Status AddBlock(const Hash& hash, std::string_view stored, uint32_t raw);
  // Copies a whole block of another pack, and lists these objects of it.
  Status CopyBlock(std::string_view stored, const std::vector<PackEntry>& entries);

  // Reads back an object. False: it was not added to this writer.
  Result<bool> Read(const Hash& hash, std::string* out);
  // Writes the open blocks and the index, and makes everything durable.
  Status Finish();

 private:
  struct Block {
    uint64_t offset = 0;
    uint32_t stored = 0;
    uint32_t raw = 0;
    bool placed = false;
    std::string bytes;  // until it is placed
  };
  struct Added {
    Hash hash;
    uint32_t block = 0;
    uint32_t at = 0;
    uint32_t raw = 0;
  };

  void AddEntry(const Added& added);
  Status Store(Block* block, std::string_view stored);
  Status Drain();
  size_t Slot(const Hash& hash) const;
  PackEntry EntryOf(const Added& added) const;

  UniqueFd fd_;
  std::string buffer_;    // not yet written
  uint64_t written_ = 0;  // bytes in the file
  uint64_t writeback_from_ = 0;
  std::deque<Block> blocks_;
  std::vector<std::string> spare_;               // buffers of placed blocks, for reuse
  std::unordered_map<uint64_t, uint32_t> open_;  // group → block
  std::vector<Added> added_;
  std::vector<uint32_t> slots_;  // open addressing: index into added_ plus 1; 0: free
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_PACK_H_
