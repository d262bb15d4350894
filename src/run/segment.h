// SPDX-License-Identifier: Apache-2.0
// The segments of a run's journal. Each program that takes part in a run writes its own segment.
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
  kHost,     // host: of the runner. The process that holds its lock runs the run
  kScript,   // script: of the init in a container
  kRank,     // rank-<K>: of one of several processes of the run, K from 0
  kSampler,  // sampler-<name>: what a sampler measured beside the script
};

// Returns nullopt when no segment can have this name.
std::optional<SegmentKind> KindOfSegment(std::string_view name);
// Whether the machine of the run writes this segment, so that clients copy it.
bool IsFarSegment(std::string_view name);

// The most far segments of one run that a client copies. The machine keeps any others.
inline constexpr size_t kMostFarSegments = 512;

// Returns the far segments among these file names, kMostFarSegments at most: the host's, the
// script's, the ranks by number, then the samplers by name.
std::vector<std::string> FarSegmentsOf(const std::vector<std::string>& file_names);

}  // namespace tenon::run

#endif  // TENON_RUN_SEGMENT_H_
