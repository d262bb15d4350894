// SPDX-License-Identifier: Apache-2.0
// For tests: files to freeze.
#ifndef TENON_SNAPSHOT_TEST_FILES_H_
#define TENON_SNAPSHOT_TEST_FILES_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::snapshot {

// Writes a file, making the folders above it; the old one of that name is overwritten in place.
inline void WriteTestFile(const std::string& path, std::string_view bytes, mode_t mode = 0644) {
  TENON_CHECK(MakeDirs(DirName(path)).ok());
  auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  TENON_CHECK(fd.ok() && WriteAll(fd->get(), bytes).ok());
  TENON_CHECK(::fchmod(fd->get(), mode) == 0);
}

// Bytes that no compressor makes smaller; the same for the same seed.
inline std::string RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_TEST_FILES_H_
