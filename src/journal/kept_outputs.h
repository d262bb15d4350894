// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_KEPT_OUTPUTS_H_
#define TENON_JOURNAL_KEPT_OUTPUTS_H_

#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::journal {

// Whether the folder of a run that is over, or its container, has the only copy of outputs: its
// journal says so, or files lie in work/outputs/ of a script that was started and the journal has
// no list of them (its runner was killed, or is of a version that did not say so). Whoever removes
// work/ asks first. `folder` is on this machine.
bool OutputsAreLeft(const run::RunFolder& folder, const RunView& run);
bool OutputsAreLeft(const run::RunFolder& folder, const SegmentFold& host);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_KEPT_OUTPUTS_H_
