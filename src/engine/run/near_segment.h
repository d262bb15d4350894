// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_NEAR_SEGMENT_H_
#define TENON_ENGINE_RUN_NEAR_SEGMENT_H_

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "journal/writer.h"
#include "run/layout.h"

namespace tenon::engine {

enum class EndComesHere { kNo, kYes };  // kYes: space for the end is reserved

// Opens the near segment of the run in `folder` that belongs to the client with this id; makes it
// if there is none. `clock` must outlive the writer. Fails with kUnavailable while another process
// has it open.
Result<journal::Writer> OpenNearSegment(const run::RunFolder& folder, const std::string& run_key,
                                        const std::string& client, const Clock* clock,
                                        EndComesHere end);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_NEAR_SEGMENT_H_
