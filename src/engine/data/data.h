// SPDX-License-Identifier: Apache-2.0
// Files between this machine and the one where runs are: data sets of a project in its shared
// folder, and copies of single files and folders. docs/runner.md § serve has the words,
// snapshot/data/data_folder.h what lies where, engine/data/machine_files.h what a machine does.
//
// What was cut off goes on where it stopped, also in the next call. No file is seen half-written.
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

// A folder or file here. A file that looks as it did last time (<home>/stat-cache) is not read
// again. The reporter hears what is left out: what is no file, and, unless it `stays_here`, keys,
// passwords and Tenon homes below `path`.
Result<DataScan> ScanHere(Context& context, const std::string& path, Reporter& reporter,
                          bool stays_here = false);

// Tells that these were passed over.
void TellLeftOut(const std::vector<std::string>& paths, Reporter& reporter);

// ---- data sets. `shared` may begin with `~`.

// Makes the data set `name` on `machine` hold what was scanned, and nothing else of earlier puts.
// A lost link: tried again a few times. kUnavailable: somebody else changes it, or the machine
// cannot be reached.
Result<Moved> PutData(Machine& machine, const std::string& shared, const std::string& name,
                      const DataScan& data, Reporter& reporter);

// Brings a data set into a folder here, which is made. Other files there stay. kUnavailable: it is
// not whole there.
Result<Moved> GetData(Machine& machine, const std::string& shared, const std::string& name,
                      const std::string& to, Reporter& reporter);

Result<RemovedData> RemoveData(Machine& machine, const std::string& shared,
                               const std::string& name);

// ---- copies. Paths on `machine` are absolute, or below the user's home there.

// Copies what was scanned here into a folder on `machine`: a single file under the path `as` in it,
// a folder's files below the path `as`, "" = in the folder itself. kInvalid: a path that leads out.
Result<Moved> CopyThere(Machine& machine, const DataScan& data, const std::string& folder,
                        const std::string& as, Reporter& reporter);

// Copies a file or folder on `machine` to `to` here. `into_folder`: `to` is a folder for it, else
// the name it gets.
Result<Moved> CopyHere(Machine& machine, const std::string& path, const std::string& to,
                       bool into_folder, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_DATA_H_
