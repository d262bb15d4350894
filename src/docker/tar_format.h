// SPDX-License-Identifier: Apache-2.0
// The 512 bytes before each member of a tar archive. For this folder.
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

// One head, with a pax head before it for what does not fit into it. Times before 1970 become 1970.
std::string PrintTarHead(const TarEntry& entry);
// 512 bytes. kCorrupt when the checksum or a number is wrong.
Result<TarEntry> ParseTarHead(std::string_view block);
// The "N key=value\n" records of a pax head, put into `entry`; keys that mean nothing here are
// skipped. kInvalid for sparse files, which are not unpacked.
Status ApplyPax(std::string_view records, TarEntry* entry);

// Bytes that fill up the last block of `size` bytes.
inline size_t TarPadding(uint64_t size) {
  return static_cast<size_t>((kTarBlock - size % kTarBlock) % kTarBlock);
}

}  // namespace tenon::docker

#endif  // TENON_DOCKER_TAR_FORMAT_H_
