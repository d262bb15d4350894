// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/pack.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/durable.h"
#include "base/file.h"
#include "snapshot/store/codec.h"
#include "snapshot/store/le.h"

namespace tenon::snapshot {
namespace {

constexpr std::string_view kMagic("TENPACK\x01", 8);
constexpr std::string_view kEndMagic("TENPIDX\x01", 8);
constexpr size_t kEntry = 56;
constexpr size_t kTables = 256 * 8;
constexpr size_t kFooter = 24;
constexpr size_t kBuffer = 1u << 20;
// Far above what a writer produces. Keeps a damaged index from allocating gigabytes.
constexpr uint32_t kMaxRaw = 4u << 20;

PackEntry DecodeEntry(const char* p) {
  PackEntry entry;
  std::memcpy(entry.hash.bytes.data(), p, 32);
  entry.offset = Load64(p + 32);
  entry.stored = Load32(p + 40);
  entry.block_raw = Load32(p + 44);
  entry.at = Load32(p + 48);
  entry.raw = Load32(p + 52);
  return entry;
}

void AppendEntry(std::string* out, const PackEntry& entry) {
  out->append(entry.hash.raw());
  Append64(out, entry.offset);
  Append32(out, entry.stored);
  Append32(out, entry.block_raw);
  Append32(out, entry.at);
  Append32(out, entry.raw);
}

// The expected position of a hash among `n` ascending hashes with the same first byte, from its
// next four bytes: hashes are spread evenly.
size_t Guess(const char* hash, size_t n) {
  uint32_t next;
  std::memcpy(&next, hash + 1, 4);
  return static_cast<size_t>(uint64_t{__builtin_bswap32(next)} * n >> 32);
}

bool IsPlausible(const PackEntry& entry) {
  return entry.block_raw <= kMaxRaw && entry.stored <= entry.block_raw &&
         entry.raw <= entry.block_raw && entry.at <= entry.block_raw - entry.raw;
}

Status ReadExactly(int fd, std::span<char> out, uint64_t offset) {
  TENON_TRY(const size_t got, ReadAt(fd, out, offset));
  TENON_EXPECT_PEER(got == out.size(), "cut short");
  return {};
}

Status CheckHash(const PackEntry& entry, std::string_view bytes) {
  TENON_EXPECT_PEER(Sha256Of(bytes) == entry.hash,
                    "the bytes of object " + entry.hash.Hex() + " do not have its hash");
  return {};
}

std::atomic<uint64_t> next_id{1};

// The block a thread decompressed last.
struct LastBlock {
  uint64_t pack = 0;
  uint64_t offset = 0;
  std::string bytes;
};

}  // namespace

Pack::Pack() : id_(next_id.fetch_add(1)) {}

Result<std::shared_ptr<Pack>> Pack::Open(const std::string& path) {
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDONLY));
  return OpenFd(std::move(fd), path);
}

Result<std::shared_ptr<Pack>> Pack::OpenFd(UniqueFd fd, const std::string& path) {
  std::shared_ptr<Pack> pack(new Pack);
  pack->path_ = path;
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FromErrno("look at " + path, errno);
  pack->size_ = static_cast<uint64_t>(info.st_size);
  std::array<char, kTables + kFooter> tail;
  TENON_EXPECT_PEER(pack->size_ >= kMagic.size() + tail.size(), "pack " + path + ": cut short");
  auto got = ReadAt(fd.get(), tail, pack->size_ - tail.size());
  if (!got.ok()) return std::move(got).error().Wrap("pack " + path);
  const char* footer = tail.data() + kTables;
  TENON_EXPECT_PEER(*got == tail.size() && std::string_view(footer + 16, 8) == kEndMagic,
                    "pack " + path + ": cut short or of an unknown version");
  pack->entries_at_ = Load64(footer);
  pack->count_ = Load32(footer + 8);
  TENON_EXPECT_PEER(Crc32c({tail.data(), kTables + 12}) == Load32(footer + 12),
                    "pack " + path + ": its index is damaged");
  const uint64_t index = uint64_t{pack->count_} * kEntry + tail.size();
  TENON_EXPECT_PEER(pack->entries_at_ >= kMagic.size() && pack->entries_at_ <= pack->size_ &&
                        pack->size_ - pack->entries_at_ == index,
                    "pack " + path + ": its size does not fit its index");
  uint32_t end = 0;
  for (size_t i = 0; i < 256; ++i) {
    pack->ends_[i] = Load32(&tail[i * 8]);
    pack->crcs_[i] = Load32(&tail[i * 8 + 4]);
    TENON_EXPECT_PEER(pack->ends_[i] >= end && pack->ends_[i] <= pack->count_,
                      "pack " + path + ": its index is damaged");
    end = pack->ends_[i];
  }
  TENON_EXPECT_PEER(end == pack->count_, "pack " + path + ": its index is damaged");
  pack->fd_ = std::move(fd);
  return pack;
}

Result<std::string_view> Pack::Bucket(uint8_t first) const {
  if (const std::string* ready = buckets_[first].load(std::memory_order_acquire))
    return std::string_view(*ready);
  std::lock_guard<std::mutex> lock(mutex_);
  if (const std::string* ready = buckets_[first].load(std::memory_order_acquire))
    return std::string_view(*ready);
  const uint32_t begin = first == 0 ? 0 : ends_[first - 1u];
  auto bytes = std::make_unique<std::string>((ends_[first] - begin) * kEntry, '\0');
  auto got = ReadAt(fd_.get(), *bytes, entries_at_ + uint64_t{begin} * kEntry);
  if (!got.ok()) return std::move(got).error().Wrap("pack " + path_);
  TENON_EXPECT_PEER(*got == bytes->size() && Crc32c(*bytes) == crcs_[first],
                    "pack " + path_ + ": its index is damaged");
  owned_.push_back(std::move(bytes));
  buckets_[first].store(owned_.back().get(), std::memory_order_release);
  return std::string_view(*owned_.back());
}

Result<std::optional<PackEntry>> Pack::Find(const Hash& hash) const {
  TENON_TRY(const std::string_view bucket, Bucket(hash.bytes[0]));
  const size_t n = bucket.size() / kEntry;
  if (n == 0) return std::optional<PackEntry>();
  const char* key = hash.raw().data();
  auto compare = [&](size_t i) { return std::memcmp(bucket.data() + i * kEntry, key, 32); };
  size_t at = std::min(Guess(key, n), n - 1);
  int order = compare(at);
  while (order < 0 && at + 1 < n) {
    order = compare(++at);
    if (order > 0) return std::optional<PackEntry>();
  }
  while (order > 0 && at > 0) {
    order = compare(--at);
    if (order < 0) return std::optional<PackEntry>();
  }
  if (order != 0) return std::optional<PackEntry>();
  return std::optional<PackEntry>(DecodeEntry(bucket.data() + at * kEntry));
}

Result<std::vector<PackEntry>> Pack::Entries() const {
  std::vector<PackEntry> entries;
  entries.reserve(std::min<uint32_t>(count_, 1u << 20));
  for (int first = 0; first < 256; ++first) {
    TENON_TRY(const std::string_view bucket, Bucket(static_cast<uint8_t>(first)));
    for (size_t at = 0; at < bucket.size(); at += kEntry) {
      entries.push_back(DecodeEntry(bucket.data() + at));
    }
  }
  return entries;
}

std::vector<PackEntry> Pack::SoundEntries() const {
  std::vector<PackEntry> entries;
  for (int first = 0; first < 256; ++first) {
    const auto bucket = Bucket(static_cast<uint8_t>(first));
    if (!bucket.ok()) continue;
    for (size_t at = 0; at < bucket->size(); at += kEntry) {
      entries.push_back(DecodeEntry(bucket->data() + at));
    }
  }
  return entries;
}

Status Pack::ReadBlock(const PackEntry& entry, std::string* stored) const {
  TENON_EXPECT_PEER(IsPlausible(entry), "pack " + path_ + ": its index makes no sense");
  stored->resize(entry.stored);
  Status status = ReadExactly(fd_.get(), *stored, entry.offset);
  if (!status.ok()) return std::move(status).error().Wrap("pack " + path_);
  return {};
}

Status Pack::Read(const PackEntry& entry, std::string* out) const {
  thread_local std::string stored;
  thread_local LastBlock last;
  auto read = [&]() -> Status {
    TENON_EXPECT_PEER(IsPlausible(entry), "its index makes no sense");
    out->resize(entry.raw);
    if (entry.stored == entry.block_raw) {
      TENON_TRY_VOID(ReadExactly(fd_.get(), *out, entry.offset + entry.at));
      return CheckHash(entry, *out);
    }
    if (last.pack != id_ || last.offset != entry.offset || last.bytes.size() != entry.block_raw) {
      last.pack = 0;  // invalid until it is whole
      stored.resize(entry.stored);
      TENON_TRY_VOID(ReadExactly(fd_.get(), stored, entry.offset));
      last.bytes.resize(entry.block_raw);
      TENON_TRY_VOID(DecompressExactly(stored, last.bytes));
      last.pack = id_;
      last.offset = entry.offset;
    }
    out->assign(last.bytes, entry.at, entry.raw);
    return CheckHash(entry, *out);
  };
  Status status = read();
  if (!status.ok()) return std::move(status).error().Wrap("pack " + path_);
  return {};
}

PackWriter::PackWriter(UniqueFd fd) : fd_(std::move(fd)), buffer_(kMagic), slots_(1024) {}

size_t PackWriter::Slot(const Hash& hash) const {
  size_t slot = std::hash<Hash>()(hash) & (slots_.size() - 1);
  while (slots_[slot] && added_[slots_[slot] - 1].hash != hash) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void PackWriter::AddEntry(const Added& added) {
  TENON_CHECK(added_.size() < 0x7fffffff);
  added_.push_back(added);
  if (added_.size() * 2 <= slots_.size()) {
    slots_[Slot(added.hash)] = static_cast<uint32_t>(added_.size());
    return;
  }
  slots_.assign(slots_.size() * 2, 0);
  for (size_t i = 0; i < added_.size(); ++i) {
    slots_[Slot(added_[i].hash)] = static_cast<uint32_t>(i + 1);
  }
}

std::optional<PackWriter::FullBlock> PackWriter::Append(const Hash& hash, std::string_view bytes,
                                                        uint64_t group) {
  auto [open, is_new] = open_.try_emplace(group, static_cast<uint32_t>(blocks_.size()));
  if (is_new) {
    blocks_.emplace_back();
    if (!spare_.empty()) {
      blocks_.back().bytes = std::move(spare_.back());
      spare_.pop_back();
    }
    blocks_.back().bytes.reserve(kBlock + kOwnBlock);
  }
  const uint32_t index = open->second;
  Block& block = blocks_[index];
  AddEntry({hash, index, static_cast<uint32_t>(block.bytes.size()),
            static_cast<uint32_t>(bytes.size())});
  block.bytes += bytes;
  if (block.bytes.size() < kBlock) return std::nullopt;
  open_.erase(open);
  return FullBlock{index, block.bytes};
}

Status PackWriter::Place(const FullBlock& full, std::string_view frame) {
  Block& block = blocks_[full.index];
  block.raw = static_cast<uint32_t>(block.bytes.size());
  TENON_TRY_VOID(Store(&block, frame.empty() ? block.bytes : frame));
  block.bytes.clear();
  spare_.push_back(std::move(block.bytes));
  return {};
}

Status PackWriter::Store(Block* block, std::string_view stored) {
  TENON_CHECK(!block->placed && stored.size() <= block->raw);
  if (buffer_.size() + stored.size() > kBuffer) TENON_TRY_VOID(Drain());
  block->offset = written_ + buffer_.size();
  block->stored = static_cast<uint32_t>(stored.size());
  block->placed = true;
  buffer_ += stored;
  return {};
}

Status PackWriter::AddBlock(const Hash& hash, std::string_view stored, uint32_t raw) {
  blocks_.emplace_back();
  blocks_.back().raw = raw;
  TENON_TRY_VOID(Store(&blocks_.back(), stored));
  AddEntry({hash, static_cast<uint32_t>(blocks_.size() - 1), 0, raw});
  return {};
}

Status PackWriter::CopyBlock(std::string_view stored, const std::vector<PackEntry>& entries) {
  blocks_.emplace_back();
  blocks_.back().raw = entries.front().block_raw;
  TENON_TRY_VOID(Store(&blocks_.back(), stored));
  for (const PackEntry& entry : entries) {
    AddEntry({entry.hash, static_cast<uint32_t>(blocks_.size() - 1), entry.at, entry.raw});
  }
  return {};
}

Status PackWriter::Drain() {
  TENON_TRY_VOID(WriteAll(fd_.get(), buffer_));
  written_ += buffer_.size();
  buffer_.clear();
  // The disk starts writing early, so that the fsync at the end finds little to do.
  constexpr uint64_t kWriteback = 8u << 20;
  if (written_ - writeback_from_ >= kWriteback) {
    ::sync_file_range(fd_.get(), static_cast<off64_t>(writeback_from_),
                      static_cast<off64_t>(written_ - writeback_from_), SYNC_FILE_RANGE_WRITE);
    writeback_from_ = written_;
  }
  return {};
}

PackEntry PackWriter::EntryOf(const Added& added) const {
  const Block& block = blocks_[added.block];
  return {added.hash, block.offset, block.stored, block.raw, added.at, added.raw};
}

Result<bool> PackWriter::Read(const Hash& hash, std::string* out) {
  const uint32_t index = slots_[Slot(hash)];
  if (index == 0) return false;
  const Added& added = added_[index - 1];
  const Block& block = blocks_[added.block];
  if (!block.placed) {
    out->assign(block.bytes, added.at, added.raw);
    return true;
  }
  TENON_TRY_VOID(Drain());
  std::string stored(block.stored, '\0'), bytes(block.raw, '\0');
  TENON_TRY_VOID(ReadExactly(fd_.get(), stored, block.offset));
  if (block.stored == block.raw) {
    bytes = std::move(stored);
  } else {
    TENON_TRY_VOID(DecompressExactly(stored, bytes));
  }
  out->assign(bytes, added.at, added.raw);
  TENON_TRY_VOID(CheckHash(EntryOf(added), *out));
  return true;
}

Status PackWriter::Finish() {
  for (const auto& [group, index] : open_) {
    const std::string_view bytes = blocks_[index].bytes;
    TENON_TRY_VOID(Place({index, bytes}, CompressIfItPays(bytes)));
  }
  open_.clear();
  std::sort(added_.begin(), added_.end(),
            [](const Added& a, const Added& b) { return a.hash < b.hash; });
  const uint64_t entries_at = written_ + buffer_.size();
  std::string index, tables;
  index.reserve(added_.size() * kEntry);
  size_t at = 0;
  for (int first = 0; first < 256; ++first) {
    const size_t begin = index.size();
    for (; at < added_.size() && added_[at].hash.bytes[0] == first; ++at) {
      AppendEntry(&index, EntryOf(added_[at]));
    }
    Append32(&tables, static_cast<uint32_t>(at));
    Append32(&tables, Crc32c(std::string_view(index).substr(begin)));
  }
  Append64(&tables, entries_at);
  Append32(&tables, static_cast<uint32_t>(added_.size()));
  Append32(&tables, Crc32c(tables));
  tables += kEndMagic;
  buffer_ += index;
  buffer_ += tables;
  TENON_TRY_VOID(Drain());
  if (DurableFsync(fd_.get()) != 0) return FromErrno("fsync", errno);
  return {};
}

}  // namespace tenon::snapshot
