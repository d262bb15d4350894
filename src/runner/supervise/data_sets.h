// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_DATA_SETS_H_
#define TENON_RUNNER_SUPERVISE_DATA_SETS_H_

#include <string>

#include "base/process.h"
#include "runner/supervise/handover.h"

namespace tenon::runner {

// Records which data sets the run's shared folder holds when the run begins: one step "data" per
// data set, with the detail "NAME FINGERPRINT (N files, SIZE)". `shared` may begin with `~`, which
// stands for HOME of `environment`. Records nothing when `shared` is "" (the target has no shared
// folder) or HOME is not set.
void RecordDataSets(const std::string& shared, const Environment& environment, Handover& handover);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_DATA_SETS_H_
