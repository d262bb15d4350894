// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_DATA_MACHINE_FILES_H_
#define TENON_ENGINE_DATA_MACHINE_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/reporter.h"
#include "snapshot/data/data_scan.h"
#include "snapshot/data/data_set.h"

namespace tenon::engine {

struct Moved {
  std::string fingerprint;
  uint64_t files = 0, bytes = 0;            // all of them
  uint64_t sent_files = 0, sent_bytes = 0;  // what had to be sent
  uint64_t removed = 0;                     // files that the data set no longer has
};

struct DataThere {
  std::string shared;  // the shared folder, without `~`
  std::vector<snapshot::DataHeader> sets;
};

struct RemovedData {
  uint64_t files = 0;
  bool others_left = false;  // the folder still has files that no put has brought
};

enum class PathKind { kNone, kFile, kFolder };

// The files of a machine that belong to no run: data sets in a shared folder, and single files and
// folders. Paths on the machine are absolute, or relative to the user's home there; `shared` may
// begin with `~`. Owned by its machine. A transfer that was cut off goes on where it stopped, also
// in a later call; a lost link is tried again a few times. engine/data/data.h has what callers need
// besides: it checks names and scans the files of this machine.
class MachineFiles {
 public:
  virtual ~MachineFiles() = default;

  // Makes the data set hold what was scanned; other files of earlier puts are removed. Fails with
  // kUnavailable when somebody else changes the set, or the machine can't be reached.
  virtual Result<Moved> PutSet(const std::string& shared, const std::string& name,
                               const snapshot::DataScan& data, Reporter& reporter) = 0;
  virtual Result<DataThere> ListSets(const std::string& shared) = 0;
  // Copies a data set into a folder of this machine. Fails with kUnavailable when the set on the
  // machine is not whole.
  virtual Result<Moved> GetSet(const std::string& shared, const std::string& name,
                               const std::string& to, Reporter& reporter) = 0;
  virtual Result<RemovedData> RemoveSet(const std::string& shared, const std::string& name) = 0;

  virtual Result<PathKind> KindOf(const std::string& path) = 0;
  // Copies what was scanned on this machine into a folder of the machine.
  virtual Result<Moved> CopyInto(const std::string& folder, const snapshot::DataScan& data,
                                 Reporter& reporter) = 0;
  // Copies a file or folder of the machine to the path `target` on this machine.
  virtual Result<Moved> CopyFrom(const std::string& path, const std::string& target,
                                 Reporter& reporter) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_MACHINE_FILES_H_
