// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/rewrite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "snapshot/store/codec.h"

namespace tenon::snapshot {

Result<int64_t> ModifiedNs(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return FromErrno("look at " + path, errno);
  return Nanoseconds(info.st_mtim);
}

Status SetModified(const std::string& path, int64_t ns) {
  timespec times[2];
  times[0] =
      times[1] = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
    return FromErrno("set the time of " + path, errno);
  }
  return {};
}

Status CopyEntries(const Pack& from, std::vector<PackEntry> entries,
                   const std::unordered_map<uint64_t, size_t>& in_block, PackWriter* to) {
  std::sort(entries.begin(), entries.end(), [](const PackEntry& a, const PackEntry& b) {
    return std::pair(a.offset, a.at) < std::pair(b.offset, b.at);
  });
  std::string bytes;
  for (size_t i = 0; i < entries.size();) {
    size_t end = i;
    while (end < entries.size() && entries[end].offset == entries[i].offset) ++end;
    std::vector<PackEntry> block;
    for (size_t k = i; k < end; ++k) {
      if (!to->Has(entries[k].hash)) block.push_back(entries[k]);
    }
    const bool whole = end - i == in_block.at(entries[i].offset);
    i = end;
    if (block.empty()) continue;
    if (whole) {
      TENON_TRY_VOID(from.ReadBlock(block.front(), &bytes));
      TENON_TRY_VOID(to->CopyBlock(bytes, block));
      continue;
    }
    for (const PackEntry& entry : block) {
      TENON_TRY_VOID(from.Read(entry, &bytes));
      if (const auto full = to->Append(entry.hash, bytes, 0)) {
        TENON_TRY_VOID(to->Place(*full, CompressIfItPays(full->bytes)));
      }
    }
  }
  return {};
}

std::unordered_map<uint64_t, size_t> CountBlocks(const std::vector<PackEntry>& entries) {
  std::unordered_map<uint64_t, size_t> counts;
  for (const PackEntry& entry : entries) ++counts[entry.offset];
  return counts;
}

Result<NewPack> BeginPack(WriterFolder* folder) {
  NewPack pack;
  pack.temp = folder->NewPath();
  TENON_TRY(UniqueFd fd, OpenFile(pack.temp, O_RDWR | O_CREAT | O_EXCL, 0400));
  pack.writer = std::make_unique<PackWriter>(std::move(fd));
  return pack;
}

Result<std::string> PublishNewPack(const StoreFiles& files, NewPack pack) {
  TENON_TRY_VOID(pack.writer->Finish());
  const std::string path = files.NewPackPath();
  if (::rename(pack.temp.c_str(), path.c_str()) != 0) return FromErrno("rename to " + path, errno);
  TENON_TRY_VOID(FsyncDir(files.packs()));
  return path;
}

Result<bool> RemoveLarge(const StoreFiles& files, const std::string& path,
                         const struct stat& seen) {
  TENON_TRY(const StoreFiles::Lock lock, files.LockExclusive());
  struct stat now;
  if (::lstat(path.c_str(), &now) != 0) return false;
  if (now.st_ino != seen.st_ino || now.st_dev != seen.st_dev || now.st_size != seen.st_size) {
    return false;
  }
  TENON_TRY_VOID(RemoveTree(path));
  return true;
}

}  // namespace tenon::snapshot
