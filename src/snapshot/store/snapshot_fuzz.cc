// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tree node, a pack or a stat cache. The first byte chooses.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "snapshot/freeze/stat_cache.h"
#include "snapshot/store/le.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {
namespace {

// A node that decodes must encode to a folder again. A single leaf must give the same bytes.
void FuzzNode(std::string_view bytes) {
  const auto node = DecodeNode(bytes);
  if (!node.ok() || node->level != 0) return;
  std::string last;
  size_t count = 0;
  const auto again = EncodeFolder(node->items, [&](std::string encoded) -> Result<Hash> {
    ++count;
    last = std::move(encoded);
    return Sha256Of(last);
  });
  if (!again.ok() || (count == 1 && last != bytes)) std::abort();
}

void Store32(std::string* bytes, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) (*bytes)[at + i] = static_cast<char>(value >> (8 * i));
}

// Corrects the checksums of a pack, so that the code behind the checks is reached.
void RepairPack(std::string* bytes) {
  constexpr size_t kTables = 256 * 8, kFooter = 24, kEntry = 56;
  if (bytes->size() < 8 + kTables + kFooter) return;
  const size_t tables = bytes->size() - kFooter - kTables;
  const uint64_t entries_at = Load64(bytes->data() + tables + kTables);
  uint64_t begin = 0;
  for (size_t i = 0; i < 256 && entries_at <= tables; ++i) {
    const uint64_t end = Load32(bytes->data() + tables + i * 8);
    if (end < begin || end * kEntry > tables - entries_at) break;
    const auto bucket =
        std::string_view(*bytes).substr(entries_at + begin * kEntry, (end - begin) * kEntry);
    Store32(bytes, tables + i * 8 + 4, Crc32c(bucket));
    begin = end;
  }
  Store32(bytes, tables + kTables + 12,
          Crc32c(std::string_view(*bytes).substr(tables, kTables + 12)));
}

void FuzzPack(std::string bytes) {
  RepairPack(&bytes);
  UniqueFd fd(::memfd_create("pack", MFD_CLOEXEC));
  if (!fd.valid() || !WriteAll(fd.get(), bytes).ok()) return;
  auto pack = Pack::OpenFd(std::move(fd), "fuzz");
  if (!pack.ok()) return;
  std::string out;
  auto entries = (*pack)->Entries();
  if (!entries.ok()) return;
  for (const PackEntry& entry : *entries) {
    (void)(*pack)->Find(entry.hash).ok();
    if ((*pack)->Read(entry, &out).ok() && Sha256Of(out) != entry.hash) std::abort();
  }
}

// Corrects the CRC of a cache, so that the code behind the check is reached.
void FuzzCache(std::string bytes) {
  if (bytes.size() > 4) {
    Store32(&bytes, bytes.size() - 4, Crc32c(std::string_view(bytes).substr(0, bytes.size() - 4)));
  }
  const StatCache cache = StatCache::FromBytes(std::move(bytes));
  for (const char* path : {"", "a", "some/folder"}) {
    const auto folder = cache.Find(path);
    if (!folder) continue;
    CachedEntry entry;
    for (size_t at = 0; folder->Next(&at, &entry);) (void)cache.Believes(entry.stat);
  }
}

}  // namespace
}  // namespace tenon::snapshot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      tenon::snapshot::FuzzNode(bytes);
      break;
    case 1:
      tenon::snapshot::FuzzPack(std::string(bytes));
      break;
    default:
      tenon::snapshot::FuzzCache(std::string(bytes));
  }
  return 0;
}
