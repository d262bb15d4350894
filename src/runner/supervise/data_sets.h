// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_DATA_SETS_H_
#define TENON_RUNNER_SUPERVISE_DATA_SETS_H_

#include <string>

#include "base/process.h"
#include "runner/supervise/handover.h"

namespace tenon::runner {

// Records which data sets lie in the shared folder of a run as it begins: a step "data" for each,
// "NAME FINGERPRINT (N files, SIZE)". `shared` may begin with `~`, which `environment` explains;
// "": there is no shared folder, and nothing to record.
void RecordDataSets(const std::string& shared, const Environment& environment, Handover& handover);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_DATA_SETS_H_
