// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_DATA_DATA_SCAN_H_
#define TENON_SNAPSHOT_DATA_DATA_SCAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "snapshot/data/data_set.h"
#include "snapshot/freeze/key_files.h"

namespace tenon::snapshot {

// Folders whose name begins like this hold the state of a copy in progress. They are in no set.
inline constexpr std::string_view kCopyState = ".tenon-copy-";

// The files of a folder on this disk, as a set.
struct DataScan {
  std::string root;  // the paths of the set are below it
  DataSet set;
  std::vector<std::string> skipped;  // neither files nor folders, or symlinks to folders
  bool is_file = false;  // `path` was a file: `root` is its folder, and the set has only this file

  // The same files under other paths: a single file is called `name`; the files of a folder go into
  // the folder `name`.
  DataScan As(const std::string& name) const;
  // Opens a file of the set for reading.
  Result<UniqueFd> Open(size_t index) const;

  std::vector<std::string> opened_as;  // after As(): the paths on the disk; else empty
  std::vector<std::string> left_out;   // keys, passwords, Tenon homes
};

struct DataScanOptions {
  // File that remembers hashes: a file with an unchanged stat is not read again. "": none.
  std::string cache;
  int64_t now_us = 0;
  std::function<Status(uint64_t done, uint64_t total)> progress;  // in bytes; called often
  // As in FreezeOptions, except that no ignore file can ask for a key: only a `path` that names the
  // key itself includes it.
  bool leave_out_keys = false;
  std::vector<FolderId> homes;
};
// `path` is a folder or a file. A symlink to a file counts as that file. Empty folders are not in
// the set. kNotFound: `path` does not exist. kInvalid: it is neither a file nor a folder, it is a
// Tenon home, or it has too many files.
Result<DataScan> ScanData(const std::string& path, const DataScanOptions& options);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_SCAN_H_
