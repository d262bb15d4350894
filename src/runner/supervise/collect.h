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

// Puts the files of outputs/ into the object store and appends their list to the journal. Records
// nothing if outputs/ is missing or empty, unless `even_none` is set. Returns how many files and
// folders could not be read; a notice names them.
// A symlink in outputs/ to a file or folder of the run is replaced by its target, because the
// target is removed with the run.
// Every path below outputs/ goes through `names`, so that neither the list nor the tree holds a
// secret.
Result<uint64_t> TryCollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names,
                                   bool even_none = false);
// As TryCollectOutputs, but records a failure as a notice. Returns why files have to be kept and
// where they are, in words for the reason of the run's end. "": nothing is left to collect.
std::string CollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names);

// Records everything that is left in the metric files. For use after the script has ended.
// `keep_text` false: drops logged texts, because the run has secrets whose values nobody knows any
// more. False: not all could be recorded; the caller must keep the files.
bool CollectMetrics(MetricFiles& files, Recorder& recorder, bool keep_text);

// As CollectMetrics, for a run folder whose writer is gone. `journaled` is what the run's segment
// already has. True when the run has no metric files.
bool TakeMetricsAfter(const run::RunFolder& folder, const MetricPositions& journaled,
                      Recorder& recorder, SafeNames& names);

// Records a notice if any name was withheld.
void TellWithheld(const RunName& run, const SafeNames& names, Recorder& recorder);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_COLLECT_H_
