// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/data_sets.h"

#include "base/clock.h"
#include "runner/supervise/prepare.h"
#include "snapshot/data/data_set.h"

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
