// SPDX-License-Identifier: Apache-2.0
// Unpacks any bytes as an archive. Checksums are repaired first, so that the code behind that check
// is reached. Nothing outside the folder may change; what was unpacked can be packed again. The
// first byte says how the bytes are cut and how much of each name is dropped.
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/temp_folder.h"
#include "docker/tar.h"
#include "docker/tar_format.h"

namespace {

using tenon::docker::kTarBlock;

// Repairs the checksum of every head: heads lie where the sizes of the entries before them say.
void RepairChecksums(std::string* bytes) {
  for (size_t at = 0; at + kTarBlock <= bytes->size();) {
    const std::string_view block = std::string_view(*bytes).substr(at, kTarBlock);
    at += kTarBlock;
    if (block.find_first_not_of('\0') == std::string_view::npos) continue;
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < kTarBlock; ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(block[i]);
    }
    char text[9];
    std::snprintf(text, sizeof text, "%06o", sum);
    bytes->replace(at - kTarBlock + 148, 8, std::string(text, 6) + std::string("\0 ", 2));
    const auto entry =
        tenon::docker::ParseTarHead(std::string_view(*bytes).substr(at - kTarBlock, kTarBlock));
    if (!entry.ok() || entry->size > bytes->size()) continue;
    at += entry->size + tenon::docker::TarPadding(entry->size);
  }
}

struct Witness {
  std::string bytes;
  mode_t mode;
  nlink_t links;
  int64_t mtime_ns;
  bool operator==(const Witness&) const = default;
};

Witness LookAt(const std::string& path) {
  struct stat info {};
  TENON_CHECK(::lstat(path.c_str(), &info) == 0);
  auto bytes = tenon::ReadFile(path);
  TENON_CHECK(bytes.ok());
  return {*bytes, info.st_mode, info.st_nlink,
          info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 64 << 10) return 0;
  std::string archive(reinterpret_cast<const char*>(data) + 1, size - 1);
  RepairChecksums(&archive);

  tenon::TempFolder outer;
  const std::string victim = outer / "victim";
  TENON_CHECK(tenon::MakeDirs(outer / "in").ok());
  TENON_CHECK(tenon::WriteFileAtomically(victim, "secret", 0604, tenon::Durability::kProcess).ok());
  TENON_CHECK(::symlink("../victim", (outer / "in/l").c_str()) == 0);
  TENON_CHECK(::symlink("..", (outer / "in/w").c_str()) == 0);
  const Witness before = LookAt(victim);

  const size_t piece = (data[0] & 1) ? archive.size() : size_t{data[0]} + 1;
  tenon::docker::TarExtractor extractor(outer / "in", (data[0] >> 1) & 1);
  bool ok = true;
  for (std::string_view rest = archive; ok && !rest.empty();
       rest.remove_prefix(std::min(piece, rest.size()))) {
    ok = extractor.Feed(rest.substr(0, piece)).ok();
  }
  (void)extractor.Finish().ok();

  TENON_CHECK(LookAt(victim) == before);
  const auto names = tenon::ListDir(outer.path());
  TENON_CHECK(names.ok() && names->size() == 2);
  TENON_CHECK(extractor.bytes() <= archive.size());
  tenon::docker::TarWriter writer(outer / "in", "", 0, 0);
  for (;;) {
    const auto piece_again = writer.Next();
    if (!piece_again.ok() || piece_again->empty()) break;
  }
  return 0;
}
