// SPDX-License-Identifier: Apache-2.0
#include "runner/data_sets.h"

#include "base/clock.h"
#include "runner/prepare.h"
#include "snapshot/data_set.h"

namespace tenon::runner {

void RecordDataSets(const std::string& shared, const Environment& environment, Handover& handover) {
  const auto folder = ExpandHome(shared, environment);
  if (shared.empty() || !folder.ok()) return;
  const int64_t begin = SystemClock().MonotonicUs();
  for (const snapshot::DataHeader& header : snapshot::ListDataSets(*folder)) {
    handover.Put(run::Step{"data", SystemClock().MonotonicUs() - begin, header.Words()});
  }
}

}  // namespace tenon::runner
