// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/stat_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/regular_file.h"
#include "snapshot/store/le.h"
#include "snapshot/store/store_files.h"

namespace tenon::snapshot {
namespace {

constexpr std::string_view kMagic("TENSTAT\x01", 8);
constexpr size_t kHeader = 20;
constexpr size_t kPackName = 32;
constexpr size_t kFooter = 16;
constexpr size_t kSlot = 16;
constexpr size_t kEntry = 8 * 4 + 4 + 1 + 1 + 32;
constexpr uint8_t kHasKept = 0x80;
constexpr size_t kLimit = size_t{4} << 30;
// The coarsest time stamps in use (FAT) have a resolution of two seconds.
constexpr int64_t kSlackNs = 2'000'000'000;

bool IsPlausibleKind(uint8_t kind) { return kind >= 1 && kind <= 4; }

// The folder record at `at`; empty if there can't be one.
std::optional<std::string_view> RecordAt(std::string_view bytes, size_t at) {
  if (at < kHeader || at > bytes.size() || bytes.size() - at < 8) return std::nullopt;
  const uint32_t size = Load32(bytes.data() + at);
  if (size < 8 || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, size);
}

// Checks the beginning and the end of the file. A file that is no cache may be far larger than any
// cache, and would be read into memory before its checksum turns out wrong.
bool MayBeCache(const std::string& path) {
  const auto fd = OpenRegular(path, O_RDONLY);
  struct stat info;
  if (!fd.ok() || ::fstat(fd->get(), &info) != 0) return false;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size < kHeader + kFooter) return false;
  char head[kHeader], footer[kFooter];
  const auto begun = ReadAt(fd->get(), head, 0), ended = ReadAt(fd->get(), footer, size - kFooter);
  if (!begun.ok() || *begun != kHeader || !ended.ok() || *ended != kFooter) return false;
  const uint64_t slots_at = Load64(footer), slots = Load32(footer + 8);
  return std::string_view(head, kHeader).starts_with(kMagic) && slots_at <= size &&
         size - slots_at == slots * kSlot + kFooter;
}

}  // namespace

FileStat FileStat::From(const struct stat& info) {
  FileStat stat;
  stat.ino = info.st_ino;
  stat.size = static_cast<uint64_t>(info.st_size);
  stat.mtime_ns = Nanoseconds(info.st_mtim);
  stat.ctime_ns = Nanoseconds(info.st_ctim);
  stat.mode = info.st_mode;
  return stat;
}

bool CachedFolder::Next(size_t* at, CachedEntry* entry) const {
  if (*at + kEntry > entries_.size()) return false;
  const char* p = entries_.data() + *at;
  entry->stat.ino = Load64(p);
  entry->stat.size = Load64(p + 8);
  entry->stat.mtime_ns = static_cast<int64_t>(Load64(p + 16));
  entry->stat.ctime_ns = static_cast<int64_t>(Load64(p + 24));
  entry->stat.mode = Load32(p + 32);
  const uint8_t kind = static_cast<uint8_t>(p[36]);
  const uint8_t name_length = static_cast<uint8_t>(p[37]);
  if (!IsPlausibleKind(kind & ~kHasKept)) return false;
  entry->kind = static_cast<CachedKind>(kind & ~kHasKept);
  std::memcpy(entry->hash.bytes.data(), p + 38, 32);
  const size_t kept = kind & kHasKept ? 32 : 0;
  if (*at + kEntry + kept + name_length > entries_.size()) return false;
  std::memcpy(entry->kept.bytes.data(), p + 38 + kept, 32);
  entry->name = {p + kEntry + kept, name_length};
  *at += kEntry + kept + name_length;
  return true;
}

StatCache StatCache::Load(const std::string& path) {
  if (!MayBeCache(path)) return {};
  auto bytes = ReadFile(path, kLimit);
  if (!bytes.ok()) return {};
  return FromBytes(std::move(*bytes));
}

StatCache StatCache::FromBytes(std::string bytes) {
  StatCache cache;
  if (bytes.size() < kHeader + kFooter || !bytes.starts_with(kMagic)) return cache;
  const char* footer = bytes.data() + bytes.size() - kFooter;
  const uint64_t slots_at = Load64(footer);
  const uint32_t slots = Load32(footer + 8);
  if (Crc32c(std::string_view(bytes).substr(0, bytes.size() - 4)) != Load32(footer + 12)) {
    return cache;
  }
  if (!std::has_single_bit(slots) || slots_at < kHeader || slots_at > bytes.size() ||
      bytes.size() - kFooter - slots_at != uint64_t{slots} * kSlot) {
    return cache;
  }
  const uint64_t packs = Load32(bytes.data() + 16);
  if (packs * kPackName > slots_at - kHeader) return cache;
  for (uint64_t i = 0; i < packs; ++i) {
    cache.packs_.push_back(bytes.substr(kHeader + i * kPackName, kPackName));
  }
  cache.taken_ns_ = static_cast<int64_t>(Load64(bytes.data() + 8));
  cache.slots_at_ = slots_at;
  cache.slots_ = slots;
  cache.bytes_ = std::move(bytes);
  return cache;
}

std::optional<CachedFolder> StatCache::Find(std::string_view path) const {
  if (slots_ == 0) return std::nullopt;
  const uint32_t crc = Crc32c(path);
  uint32_t slot = crc & (slots_ - 1);
  std::string_view record;
  for (uint32_t probes = 0;; ++probes, slot = (slot + 1) & (slots_ - 1)) {
    const char* p = bytes_.data() + slots_at_ + size_t{slot} * kSlot;
    const uint64_t at = Load64(p + 8);
    if (at == 0 || probes == slots_) return std::nullopt;
    if (Load32(p) != crc) continue;
    const auto candidate = RecordAt(std::string_view(bytes_).substr(0, slots_at_), at);
    if (!candidate) return std::nullopt;
    const uint32_t path_length = Load32(candidate->data() + 4);
    if (path_length > candidate->size() - 8 || candidate->substr(8, path_length) != path) continue;
    record = *candidate;
    break;
  }
  CachedFolder folder;
  folder.record_ = record;
  std::string_view rest = record.substr(8 + path.size());
  if (rest.size() < 8) return std::nullopt;
  const uint64_t nodes = Load32(rest.data()), kept = Load32(rest.data() + 4);
  rest.remove_prefix(8);
  if (nodes == 0 || rest.size() < (nodes + kept) * 32 + 4) return std::nullopt;
  for (uint64_t i = 0; i < nodes + kept; ++i) {
    (i < nodes ? folder.nodes_ : folder.kept_nodes_)
        .push_back(Hash::FromBytes(rest.substr(i * 32, 32)));
  }
  rest.remove_prefix((nodes + kept) * 32);
  folder.count_ = Load32(rest.data());
  folder.entries_ = rest.substr(4);
  return folder;
}

bool StatCache::Believes(const FileStat& recorded) const {
  const int64_t newest = std::max(recorded.mtime_ns, recorded.ctime_ns);
  return newest < std::min(taken_ns_, now_ns_) - kSlackNs;
}

CachedFolderBuilder::CachedFolderBuilder(std::string_view path, const std::vector<Hash>& nodes,
                                         const std::vector<Hash>& kept_nodes) {
  Append32(&bytes_, 0);  // the size, set by Finish()
  Append32(&bytes_, static_cast<uint32_t>(path.size()));
  bytes_ += path;
  Append32(&bytes_, static_cast<uint32_t>(nodes.size()));
  Append32(&bytes_, static_cast<uint32_t>(kept_nodes.size()));
  for (const Hash& hash : nodes) bytes_ += hash.raw();
  for (const Hash& hash : kept_nodes) bytes_ += hash.raw();
  count_at_ = bytes_.size();
  Append32(&bytes_, 0);
}

void CachedFolderBuilder::Add(const CachedEntry& entry) {
  Append64(&bytes_, entry.stat.ino);
  Append64(&bytes_, entry.stat.size);
  Append64(&bytes_, static_cast<uint64_t>(entry.stat.mtime_ns));
  Append64(&bytes_, static_cast<uint64_t>(entry.stat.ctime_ns));
  Append32(&bytes_, entry.stat.mode);
  const bool has_kept = entry.kept != entry.hash;
  bytes_ += static_cast<char>(static_cast<uint8_t>(entry.kind) | (has_kept ? kHasKept : 0));
  bytes_ += static_cast<char>(entry.name.size());
  bytes_ += entry.hash.raw();
  if (has_kept) bytes_ += entry.kept.raw();
  bytes_ += entry.name;
  ++count_;
}

std::string CachedFolderBuilder::Finish() {
  std::string numbers;
  Append32(&numbers, static_cast<uint32_t>(bytes_.size()));
  bytes_.replace(0, 4, numbers);
  numbers.clear();
  Append32(&numbers, count_);
  bytes_.replace(count_at_, 4, numbers);
  return std::move(bytes_);
}

StatCacheBuilder::StatCacheBuilder(int64_t taken_ns, const std::vector<std::string>& packs)
    : bytes_(kMagic) {
  Append64(&bytes_, static_cast<uint64_t>(taken_ns));
  Append32(&bytes_, static_cast<uint32_t>(packs.size()));
  for (const std::string& pack : packs) {
    TENON_CHECK(pack.size() == kPackName);
    bytes_ += pack;
  }
}

void StatCacheBuilder::Add(std::string_view record) {
  const std::string_view path = record.substr(8, Load32(record.data() + 4));
  folders_.emplace_back(Crc32c(path), bytes_.size());
  bytes_ += record;
}

std::string StatCacheBuilder::Finish() {
  const size_t slots = std::bit_ceil(folders_.size() * 2 + 1);
  std::vector<std::pair<uint32_t, uint64_t>> table(slots);
  for (const auto& folder : folders_) {
    size_t slot = folder.first & (slots - 1);
    while (table[slot].second != 0) slot = (slot + 1) & (slots - 1);
    table[slot] = folder;
  }
  const uint64_t slots_at = bytes_.size();
  for (const auto& [crc, at] : table) {
    Append32(&bytes_, crc);
    Append32(&bytes_, 0);
    Append64(&bytes_, at);
  }
  Append64(&bytes_, slots_at);
  Append32(&bytes_, static_cast<uint32_t>(slots));
  Append32(&bytes_, Crc32c(bytes_));
  return std::move(bytes_);
}

Result<int64_t> FileSystemNow(const std::string& path) {
  const std::string clock = path + ".clock";
  auto fd = OpenRegular(clock, O_WRONLY | O_CREAT, 0600);
  if (!fd.ok() && fd.error().kind == ErrorKind::kNotFound) {
    TENON_TRY_VOID(MakeDirs(DirName(path), 0700));
    fd = OpenRegular(clock, O_WRONLY | O_CREAT, 0600);
  }
  if (!fd.ok()) return std::move(fd).error();
  struct stat info;
  if (::futimens(fd->get(), nullptr) != 0 || ::fstat(fd->get(), &info) != 0) {
    return FromErrno("read the time of the file system at " + clock, errno);
  }
  return Nanoseconds(info.st_mtim);
}

}  // namespace tenon::snapshot
