// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_DISK_USAGE_H_
#define TENON_BASE_DISK_USAGE_H_

#include <cstdint>
#include <string>

namespace tenon {

// Bytes that a file, or a folder with all it holds, takes on disk. Whatever vanishes during the
// count, or can't be read, counts as 0.
uint64_t DiskBytes(const std::string& path);

}  // namespace tenon

#endif  // TENON_BASE_DISK_USAGE_H_
