// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_COLLECT_H_
#define TENON_RUNNER_SUPERVISE_COLLECT_H_

#include <string>

#include "base/result.h"
#include "runner/metrics/metric_files.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Puts outputs/ into the object store and its list into the journal. Nothing in it: nothing is
// recorded, unless `even_none` is set. Returns how many files could not be read; they are named in
// a notice.
// A symlink in it to a file or folder of the run becomes that: what it leads to goes with the run.
// `names` is asked for every path below outputs/, so that no secret is in the list nor in the tree.
Result<uint64_t> TryCollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names,
                                   bool even_none = false);
// The same, a failure recorded as a notice. Returns why the files have to be kept and where they
// are, for the reason of the run's end; "": all are collected.
std::string CollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names);

// Reads everything that is left in the metric files, now that the script is gone. `keep_text` false
// drops texts (a run with secrets whose values nobody knows any more). False: not all could be
// journaled, keep the files.
bool CollectMetrics(MetricFiles& files, Recorder& recorder, bool keep_text);

// The same for a run folder whose writer is gone; `journaled` is what its segment has already.
bool TakeMetricsAfter(const run::RunFolder& folder, const MetricPositions& journaled,
                      Recorder& recorder, SafeNames& names);

// Records that names were withheld, if any were.
void TellWithheld(const RunName& run, const SafeNames& names, Recorder& recorder);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_COLLECT_H_
