// SPDX-License-Identifier: Apache-2.0
#include "base/disk_usage.h"

#include <sys/stat.h>

#include "base/file.h"

namespace tenon {

uint64_t DiskBytes(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  uint64_t bytes = static_cast<uint64_t>(info.st_blocks) * 512;
  if (!S_ISDIR(info.st_mode)) return bytes;
  for (const std::string& name : ListDir(path).value_or({})) {
    bytes += DiskBytes(JoinPath(path, name));
  }
  return bytes;
}

}  // namespace tenon
