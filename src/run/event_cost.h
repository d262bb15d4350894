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

// What the payload of one record may hold. A runner writes far less: outputs in records of 1,000
// files, metrics in records of some 65,536 points. More is kCorrupt in DecodeEvent(), whose memory
// so stays below some 100 MiB whatever the payload.
inline constexpr size_t kMaxEventJson = 16u << 20;  // bytes, decompressed
inline constexpr size_t kMaxEventValues = 200'000;

// DecodeEvent() with about how many bytes the event takes in memory, or where it is shown (text
// that has to be escaped grows): of a type that carries JSON; 0 for the others.
Result<std::optional<Event>> DecodeEventWithCost(uint8_t type, std::string_view payload,
                                                 size_t* cost);

}  // namespace tenon::run

#endif  // TENON_RUN_EVENT_COST_H_
