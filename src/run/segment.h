// SPDX-License-Identifier: Apache-2.0
// The segments of a run's journal, one for each writer. A run has as many as took part in it.
#ifndef TENON_RUN_SEGMENT_H_
#define TENON_RUN_SEGMENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::run {

enum class SegmentKind {
  kNear,     // near-<client>: of a client that submitted the run or annotated it
  kHost,     // host: of the runner. Whoever holds its lock runs the run
  kScript,   // script: of the init in a container
  kRank,     // rank-<K>: of one of several processes, K from 0
  kSampler,  // sampler-<name>: what was measured beside the script
};

// nullopt: no segment has such a name.
std::optional<SegmentKind> KindOfSegment(std::string_view name);
// A segment that the machine of the run has, and clients copy.
bool IsFarSegment(std::string_view name);

// So many a machine may have of one run; what it has beyond that is left there.
inline constexpr size_t kMostFarSegments = 512;

// Those that files of these names hold, the host's first, then the script's, ranks by number, the
// samplers by name; kMostFarSegments at most.
std::vector<std::string> FarSegmentsOf(const std::vector<std::string>& file_names);

}  // namespace tenon::run

#endif  // TENON_RUN_SEGMENT_H_
