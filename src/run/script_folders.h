// SPDX-License-Identifier: Apache-2.0
// Where a script works, apart from the record of its run:
//
//   <home>/runs/<run id>/host.tj
//                        work     -> ../../work/<run id>/work
//                        metrics  -> ../../work/<run id>/metrics
//   <home>/work/<run id>/work, metrics
//
// A script gets the paths at the end of the links. So the record is in no folder above the script's
// folders, and the script's environment does not name it. In runs of Tenon 0.1.0 `work` and
// `metrics` are folders beside the record; all functions of this file accept that.
#ifndef TENON_RUN_SCRIPT_FOLDERS_H_
#define TENON_RUN_SCRIPT_FOLDERS_H_

#include <cstdint>

#include "base/result.h"
#include "run/layout.h"

namespace tenon::run {

// Makes the two links and the empty folder that they lead into. Removes what an earlier try left.
// The run's own folder must exist.
Status MakeScriptFolders(const RunFolder& folder);

// Remove the folder and its link. A folder that does not exist is success.
Status RemoveWork(const RunFolder& folder);
Status RemoveMetrics(const RunFolder& folder);
// Removes the record and both script folders.
Status RemoveRun(const RunFolder& folder);

// Returns the disk use of the record and both script folders.
uint64_t RunBytes(const RunFolder& folder);

// Removes the script folders of runs whose own folder is gone. Returns how many bytes it freed;
// with `dry_run`, how many it would free. Other programs may use the folder too, and a script may
// still run without its record. So this removes only a folder that is surely lost: it has the name
// of a run, holds nothing but the two folders, has not changed for a week, and no process works in
// it or has it mounted.
uint64_t RemoveLostScriptFolders(const Home& home, int64_t now_us, bool dry_run);

}  // namespace tenon::run

#endif  // TENON_RUN_SCRIPT_FOLDERS_H_
