// SPDX-License-Identifier: Apache-2.0
// Where a script works, apart from the record of its run:
//
//   <home>/runs/<run id>/host.tj
//                        work     -> ../../work/<run id>/work
//                        metrics  -> ../../work/<run id>/metrics
//   <home>/work/<run id>/work, metrics
//
// A script is given the places at the end of the links: the record is neither in a folder above
// them nor named in the script's environment. In runs of Tenon 0.1.0 `work` and `metrics` are
// folders beside the record; everything here takes them as they are.
#ifndef TENON_RUN_SCRIPT_FOLDERS_H_
#define TENON_RUN_SCRIPT_FOLDERS_H_

#include <cstdint>

#include "base/result.h"
#include "run/layout.h"

namespace tenon::run {

// Makes the links and the folder they lead into, which is empty then: what an earlier try has left
// is removed. The run's own folder is there.
Status MakeScriptFolders(const RunFolder& folder);

// Each with its link. Not there is success.
Status RemoveWork(const RunFolder& folder);
Status RemoveMetrics(const RunFolder& folder);
// The record and both.
Status RemoveRun(const RunFolder& folder);

// What the record and both take on the disk.
uint64_t RunBytes(const RunFolder& folder);

// Removes the script folders of runs that have no folder any more. Returns the bytes freed. A home
// may be a folder that others use too, and a script may go on without its record, so only what is
// surely lost goes: it has the name of a run, holds nothing but the two folders, has not changed
// for a week, and no process works in it or has it mounted.
uint64_t RemoveLostScriptFolders(const Home& home, int64_t now_us, bool dry_run);

}  // namespace tenon::run

#endif  // TENON_RUN_SCRIPT_FOLDERS_H_
