// SPDX-License-Identifier: Apache-2.0
// The head of a tar entry: the 512 bytes before its data. For this folder.
#ifndef TENON_DOCKER_TAR_FORMAT_H_
#define TENON_DOCKER_TAR_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::docker {

inline constexpr size_t kTarBlock = 512;

struct TarEntry {
  char type = '0';
  std::string name;
  std::string link;
  uint32_t mode = 0644;
  uint64_t uid = 0, gid = 0;
  uint64_t size = 0;
  int64_t mtime = 0;  // seconds since 1970
};

// Prints the head of an entry, with a pax head before it for values that do not fit. Times before
// 1970 become 1970.
std::string PrintTarHead(const TarEntry& entry);
// Parses a head of 512 bytes. Fails with kCorrupt when the checksum or a number is wrong.
Result<TarEntry> ParseTarHead(std::string_view block);
// Puts the "N key=value\n" records of a pax head into `entry` and skips unknown keys. Fails with
// kCorrupt for a damaged record, with kInvalid for sparse files, which are not unpacked.
Status ApplyPax(std::string_view records, TarEntry* entry);

// How many bytes fill up the last block of an entry of `size` bytes.
inline size_t TarPadding(uint64_t size) {
  return static_cast<size_t>((kTarBlock - size % kTarBlock) % kTarBlock);
}

}  // namespace tenon::docker

#endif  // TENON_DOCKER_TAR_FORMAT_H_
