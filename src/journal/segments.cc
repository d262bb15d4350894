// SPDX-License-Identifier: Apache-2.0
#include "journal/segments.h"

#include "base/file.h"
#include "run/segment.h"

namespace tenon::journal {

std::vector<std::string> FarSegments(const run::RunFolder& folder) {
  return run::FarSegmentsOf(ListDir(folder.path()).value_or({}));
}

}  // namespace tenon::journal
