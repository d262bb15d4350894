// SPDX-License-Identifier: Apache-2.0
// For tests: files to freeze.
#ifndef TENON_SNAPSHOT_FREEZE_TEST_FILES_H_
#define TENON_SNAPSHOT_FREEZE_TEST_FILES_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/temp_folder.h"

namespace tenon::snapshot {

// Writes a file and makes the folders above it. An existing file is overwritten in place.
inline void WriteTestFile(const std::string& path, std::string_view bytes, mode_t mode = 0644) {
  TENON_CHECK(MakeDirs(DirName(path)).ok());
  auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  TENON_CHECK(fd.ok() && WriteAll(fd->get(), bytes).ok());
  TENON_CHECK(::fchmod(fd->get(), mode) == 0);
}

// Bytes that do not compress; the same for the same seed.
inline std::string RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// Describes the contents of a folder for comparison: path → type, mode and contents.
inline void DescribeInto(const std::string& folder, const std::string& path,
                         std::map<std::string, std::string>* out) {
  auto names = ListDir(JoinPath(folder, path));
  TENON_CHECK(names.ok());
  for (const std::string& name : *names) {
    const std::string inner = path.empty() ? name : path + "/" + name;
    const std::string full = JoinPath(folder, inner);
    struct stat info;
    TENON_CHECK(::lstat(full.c_str(), &info) == 0);
    const std::string mode = std::to_string(info.st_mode & 07777);
    if (S_ISDIR(info.st_mode)) {
      (*out)[inner] = "folder " + mode;
      DescribeInto(folder, inner, out);
    } else if (S_ISLNK(info.st_mode)) {
      (*out)[inner] = "symlink " + *ReadLink(full);
    } else {
      auto bytes = ReadFile(full, size_t{1} << 30);
      TENON_CHECK(bytes.ok());
      (*out)[inner] =
          "file " + mode + " " + (bytes->size() > 4096 ? Sha256Of(*bytes).Hex() : *bytes);
    }
  }
}
inline std::map<std::string, std::string> Describe(const std::string& folder) {
  std::map<std::string, std::string> out;
  DescribeInto(folder, "", &out);
  return out;
}

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_TEST_FILES_H_
