// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_KEPT_OUTPUTS_H_
#define TENON_JOURNAL_KEPT_OUTPUTS_H_

#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::journal {

// Whether a finished run still has outputs whose only copy is in its folder or its container. True
// when its journal says so. Also true when its script started, the journal lists no outputs, and
// work/outputs/ has files or can't be read: the runner was killed, or it is of a version that did
// not record this. Whoever removes work/ must ask first. `folder` is on this machine. `host` is the
// fold of the host segment.
bool OutputsAreLeft(const run::RunFolder& folder, const RunView& run);
bool OutputsAreLeft(const run::RunFolder& folder, const SegmentFold& host);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_KEPT_OUTPUTS_H_
