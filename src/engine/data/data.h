// SPDX-License-Identifier: Apache-2.0
// Moves files between this machine and the machine where runs are: data sets of a project in its
// shared folder, and copies of single files and folders. docs/runner.md § serve has the messages,
// snapshot/data/data_folder.h the layout on disk, engine/data/machine_files.h what a machine does.
//
// A transfer that was cut off goes on where it stopped, also in a later call. No reader sees a
// half-written file.
#ifndef TENON_ENGINE_DATA_DATA_H_
#define TENON_ENGINE_DATA_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/data/machine_files.h"
#include "engine/host/machine.h"
#include "engine/reporter.h"
#include "snapshot/data/data_scan.h"
#include "snapshot/data/data_set.h"

namespace tenon::engine {

using snapshot::CheckDataName;
using snapshot::DataHeader;
using snapshot::DataScan;
using snapshot::kCopyState;

// Scans a folder or file on this machine. A file that looks as it did last time (<home>/stat-cache)
// is not read again. The reporter hears what is left out: everything that is no file, and, unless
// the data `stays_here`, keys, passwords and Tenon homes below `path`.
Result<DataScan> ScanHere(Context& context, const std::string& path, Reporter& reporter,
                          bool stays_here = false);

// Reports that these paths were left out.
void TellLeftOut(const std::vector<std::string>& paths, Reporter& reporter);

// ---- data sets. `shared` may begin with `~`.

// Makes the data set `name` on `machine` hold what was scanned; other files of earlier puts are
// removed. A lost link is tried again a few times. Fails with kUnavailable when somebody else
// changes the set, or the machine can't be reached.
Result<Moved> PutData(Machine& machine, const std::string& shared, const std::string& name,
                      const DataScan& data, Reporter& reporter);

// Copies a data set into a folder on this machine, which is made if needed. Other files in that
// folder stay. Fails with kUnavailable when the set on the machine is not whole.
Result<Moved> GetData(Machine& machine, const std::string& shared, const std::string& name,
                      const std::string& to, Reporter& reporter);

Result<RemovedData> RemoveData(Machine& machine, const std::string& shared,
                               const std::string& name);

// ---- copies. Paths on `machine` are absolute, or relative to the user's home on it.

// Copies what was scanned into a folder on `machine`. A single file gets the path `as` in that
// folder; a folder's files go below the path `as`, "" = into the folder itself. Fails with kInvalid
// when a path leads out of the folder.
Result<Moved> CopyThere(Machine& machine, const DataScan& data, const std::string& folder,
                        const std::string& as, Reporter& reporter);

// Copies a file or folder on `machine` to this one. `into_folder`: `to` is the folder to put it
// into; otherwise `to` is the name of the copy.
Result<Moved> CopyHere(Machine& machine, const std::string& path, const std::string& to,
                       bool into_folder, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_DATA_H_
