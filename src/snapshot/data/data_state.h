// SPDX-License-Identifier: Apache-2.0
// The records beside the files of a data set. Used by data_folder.cc and data_state.cc.
#ifndef TENON_SNAPSHOT_DATA_DATA_STATE_H_
#define TENON_SNAPSHOT_DATA_DATA_STATE_H_

#include <string>
#include <vector>

#include "snapshot/data/data_folder.h"

namespace tenon::snapshot {

// The stored header. A fresh one if there is none or it cannot be read.
DataHeader HeaderOf(const DataPlace& place);

// Removes the state of earlier copies into the same folder that no process is working on: their
// files have changed since, or nobody has resumed them. Does nothing for a data set.
Status RemoveOtherCopies(const DataPlace& place);

// Every path that puts have brought, including those of a put that stopped while moving files into
// place. `listed` receives the files of the lists that could be read.
std::vector<std::string> OurPaths(const DataPlace& place, std::vector<DataFile>* listed);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_STATE_H_
