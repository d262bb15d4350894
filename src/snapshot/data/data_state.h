// SPDX-License-Identifier: Apache-2.0
// What is written down about a data set beside its files. For data_folder.cc and data_state.cc.
#ifndef TENON_SNAPSHOT_DATA_DATA_STATE_H_
#define TENON_SNAPSHOT_DATA_DATA_STATE_H_

#include <string>
#include <vector>

#include "snapshot/data/data_folder.h"

namespace tenon::snapshot {

// A new one when there is none, or it cannot be read.
DataHeader HeaderOf(const DataPlace& place);

// What other copies into the same folder have left, which nobody is at: their files have changed
// since, or nobody came back. Of a data set: nothing to be done.
Status RemoveOtherCopies(const DataPlace& place);

// Every path that puts have brought, those of one that broke off while files took their places
// included. `listed`: the files of lists that could be read.
std::vector<std::string> OurPaths(const DataPlace& place, std::vector<DataFile>* listed);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_STATE_H_
