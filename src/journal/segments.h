// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_SEGMENTS_H_
#define TENON_JOURNAL_SEGMENTS_H_

#include <string>
#include <vector>

#include "run/layout.h"

namespace tenon::journal {

// The names of the far segments in a run's folder on this machine, in the order of
// run::FarSegmentsOf(). Empty when the folder can't be read.
std::vector<std::string> FarSegments(const run::RunFolder& folder);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_SEGMENTS_H_
