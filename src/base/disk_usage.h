// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_DISK_USAGE_H_
#define TENON_BASE_DISK_USAGE_H_

#include <cstdint>
#include <string>

namespace tenon {

// Bytes on disk of a file or folder; what vanishes while being counted counts nothing.
uint64_t DiskBytes(const std::string& path);

}  // namespace tenon

#endif  // TENON_BASE_DISK_USAGE_H_
