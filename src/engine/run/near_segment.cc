// SPDX-License-Identifier: Apache-2.0
#include "engine/run/near_segment.h"

namespace tenon::engine {

Result<journal::Writer> OpenNearSegment(const run::RunFolder& folder, const std::string& run_key,
                                        const std::string& client, const Clock* clock,
                                        EndComesHere end) {
  return journal::Writer::Open({folder.near_segment(client), run_key, "near-" + client, clock,
                                /*reserve=*/end == EndComesHere::kYes});
}

}  // namespace tenon::engine
