// SPDX-License-Identifier: Apache-2.0
// Lists one folder of the disk, and reads files that others may be writing.
#ifndef TENON_SNAPSHOT_FREEZE_FOLDER_SCAN_H_
#define TENON_SNAPSHOT_FREEZE_FOLDER_SCAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "snapshot/freeze/stat_cache.h"

namespace tenon::snapshot {

// The names of a folder, in the order the file system gives them.
struct Listing {
  struct Name {
    uint32_t at;  // in `names`
    uint8_t length;
    uint8_t type;  // DT_REG, DT_DIR, ..., never DT_UNKNOWN
  };
  std::string names;  // each followed by a NUL
  std::vector<Name> entries;

  std::string_view operator[](size_t i) const {
    return {names.data() + entries[i].at, entries[i].length};
  }
};

// Lists an open folder, without "." and "..".
class FolderLister {
 public:
  explicit FolderLister(int fd) : fd_(fd) {}
  // Appends the next few thousand names. False: the end was reached.
  Result<bool> Next(Listing* listing);

 private:
  int fd_;
};

// Looks names up in a cached folder. Takes no search while they come in the recorded order.
class CacheCursor {
 public:
  explicit CacheCursor(const CachedFolder* folder) : folder_(folder) {}
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Where the entry of this name begins, for CachedFolder::Next(); kNone if there is none.
  size_t Find(std::string_view name);

 private:
  const CachedFolder* folder_;
  size_t at_ = 0;
  bool in_order_ = true;
  std::unordered_map<std::string_view, size_t> places_;
};

// Opens a file that should be a regular one and calls `read` with it, at most three times, until
// the file's stat is the same before and after. The messages of kDenied and kUnavailable do not
// name the file.
Result<FileStat> ReadSteadily(int folder, const char* name,
                              const std::function<Status(int fd, const FileStat& stat)>& read);

// Opens a folder without following a symlink. kUnavailable if it is no folder any more.
Result<UniqueFd> OpenFolder(int folder, const char* name);

// The target of a symlink.
Result<std::string> ReadTarget(int folder, const char* name);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_FOLDER_SCAN_H_
