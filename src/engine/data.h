// SPDX-License-Identifier: Apache-2.0
// Files between this machine and the one where runs are: data sets of a project in its shared
// folder, and copies of single files and folders. docs/runner.md § serve has the words,
// snapshot/data_folder.h what lies where. Without a far machine the same happens on this disk.
//
// What was cut off goes on where it stopped, also in the next call. No file is seen half-written.
#ifndef TENON_ENGINE_DATA_H_
#define TENON_ENGINE_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "snapshot/data_scan.h"
#include "snapshot/data_set.h"

namespace tenon::engine {

using snapshot::CheckDataName;
using snapshot::DataHeader;
using snapshot::DataScan;
using snapshot::kCopyState;

// A folder or file here. A file that looks as it did last time (<home>/stat-cache) is not read
// again. The reporter hears what is left out: what is no file, and, unless it `stays_here`, keys,
// passwords and Tenon homes below `path`.
Result<DataScan> ScanHere(Context& context, const std::string& path, Reporter& reporter,
                          bool stays_here = false);

struct Moved {
  std::string fingerprint;
  uint64_t files = 0, bytes = 0;            // all of them
  uint64_t sent_files = 0, sent_bytes = 0;  // of these, what had to go over
  uint64_t removed = 0;                     // files that a data set does not have any more
};

// ---- data sets. `shared` may begin with `~`.

// Makes the data set `name` on `machine` hold what was scanned, and nothing else of earlier puts.
// A lost link: tried again a few times. kUnavailable: somebody else changes it, or the machine
// cannot be reached.
Result<Moved> PutData(Context& context, Machine& machine, const std::string& shared,
                      const std::string& name, const DataScan& data, Reporter& reporter);

struct DataThere {
  std::string shared;  // without `~`
  std::vector<DataHeader> sets;
};
Result<DataThere> ListData(Context& context, Machine& machine, const std::string& shared);

// Brings a data set into a folder here, which is made. Other files there stay. kUnavailable: it is
// not whole there.
Result<Moved> GetData(Context& context, Machine& machine, const std::string& shared,
                      const std::string& name, const std::string& to, Reporter& reporter);

struct RemovedData {
  uint64_t files = 0;
  bool others_left = false;  // the folder has files that no put has brought
};
Result<RemovedData> RemoveData(Context& context, Machine& machine, const std::string& shared,
                               const std::string& name);

// ---- copies. Paths on `machine` are absolute, or below the user's home there.

enum class PathKind { kNone, kFile, kFolder };
Result<PathKind> KindOf(Context& context, Machine& machine, const std::string& path);

// Copies what was scanned here into a folder on `machine`: a single file under the path `as` in it, a
// folder's files below the path `as`, "" = in the folder itself. kInvalid: a path that leads out.
Result<Moved> CopyThere(Context& context, Machine& machine, const DataScan& data,
                        const std::string& folder, const std::string& as, Reporter& reporter);

// Copies a file or folder on `machine` to `to` here. `into_folder`: `to` is a folder for it, else the
// name it gets.
Result<Moved> CopyHere(Context& context, Machine& machine, const std::string& path,
                       const std::string& to, bool into_folder, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_H_
