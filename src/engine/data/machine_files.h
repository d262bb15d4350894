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
  uint64_t sent_files = 0, sent_bytes = 0;  // of these, what had to go over
  uint64_t removed = 0;                     // files that a data set does not have any more
};

struct DataThere {
  std::string shared;  // without `~`
  std::vector<snapshot::DataHeader> sets;
};

struct RemovedData {
  uint64_t files = 0;
  bool others_left = false;  // the folder has files that no put has brought
};

enum class PathKind { kNone, kFile, kFolder };

// Files on a machine that are no run's: data sets in a shared folder, and single files and folders.
// Paths there are absolute, or below the user's home there; `shared` may begin with `~`. Owned by
// its machine. What was cut off goes on where it stopped, also in the next call; a lost link is
// tried again a few times. engine/data/data.h has what the callers of both kinds share: checks of
// names, looking at the files here.
class MachineFiles {
 public:
  virtual ~MachineFiles() = default;

  // Makes the data set hold what was scanned here, and nothing else of earlier puts. kUnavailable:
  // somebody else changes it, or the machine cannot be reached.
  virtual Result<Moved> PutSet(const std::string& shared, const std::string& name,
                               const snapshot::DataScan& data, Reporter& reporter) = 0;
  virtual Result<DataThere> ListSets(const std::string& shared) = 0;
  // Brings a data set into a folder here. kUnavailable: it is not whole there.
  virtual Result<Moved> GetSet(const std::string& shared, const std::string& name,
                               const std::string& to, Reporter& reporter) = 0;
  virtual Result<RemovedData> RemoveSet(const std::string& shared, const std::string& name) = 0;

  virtual Result<PathKind> KindOf(const std::string& path) = 0;
  // Copies what was scanned here into a folder there.
  virtual Result<Moved> CopyInto(const std::string& folder, const snapshot::DataScan& data,
                                 Reporter& reporter) = 0;
  // Copies a file or folder there to `target` here, which is the name it gets.
  virtual Result<Moved> CopyFrom(const std::string& path, const std::string& target,
                                 Reporter& reporter) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_MACHINE_FILES_H_
