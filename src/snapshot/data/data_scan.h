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

// A folder whose name begins so has what a copy has brought so far; it is in no set.
inline constexpr std::string_view kCopyState = ".tenon-copy-";

// The files of a folder on this disk, as a set.
struct DataScan {
  std::string root;  // the paths of the set are below it
  DataSet set;
  std::vector<std::string> skipped;  // neither files nor folders, and symlinks to folders
  bool is_file = false;  // one file was named: `root` is its folder, and the set has it alone

  // The same files under other paths: a single file is called `name`, the files of a folder lie in
  // the folder `name`.
  DataScan As(const std::string& name) const;
  // A file of the set, for reading.
  Result<UniqueFd> Open(size_t index) const;

  std::vector<std::string> opened_as;  // paths on the disk, where As() was asked for; else empty
  std::vector<std::string> left_out;   // keys, passwords, Tenon homes
};

struct DataScanOptions {
  // Remembers hashes: a file that looks as it did last time is not read again. "" = none.
  std::string cache;
  int64_t now_us = 0;
  std::function<Status(uint64_t done, uint64_t total)> progress;  // bytes; often
  // As of FreezeOptions, but nothing is taken on purpose except by naming it as `path`.
  bool leave_out_keys = false;
  std::vector<FolderId> homes;
};
// `path` is a folder or a file. Symlinks to files count as the files. Empty folders are not in the
// set. kNotFound: nothing there. kInvalid: neither file nor folder, or too many files.
Result<DataScan> ScanData(const std::string& path, const DataScanOptions& options);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_SCAN_H_
