// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_SEGMENTS_H_
#define TENON_JOURNAL_SEGMENTS_H_

#include <string>
#include <vector>

#include "run/layout.h"

namespace tenon::journal {

// The names of the far segments that a run's folder on this machine has now, in the order of
// run::FarSegmentsOf(). A folder that can't be read has none.
std::vector<std::string> FarSegments(const run::RunFolder& folder);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_SEGMENTS_H_
