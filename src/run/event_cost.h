// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_EVENT_COST_H_
#define TENON_RUN_EVENT_COST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "run/event.h"

namespace tenon::run {

// Limits of the payload of one record. A runner writes far less: outputs in records of 1,000 files,
// metrics in records of some 65,536 points. DecodeEvent() fails with kCorrupt above these limits,
// so its memory stays below some 100 MiB for any payload.
inline constexpr size_t kMaxEventJson = 16u << 20;  // bytes, decompressed
inline constexpr size_t kMaxEventValues = 200'000;

// Like DecodeEvent(). Also sets `*cost` to about the number of bytes that the event takes in memory
// or when it is shown, whichever is more (escaped text grows). `*cost` is 0 for types that carry no
// JSON.
Result<std::optional<Event>> DecodeEventWithCost(uint8_t type, std::string_view payload,
                                                 size_t* cost);

}  // namespace tenon::run

#endif  // TENON_RUN_EVENT_COST_H_
