// SPDX-License-Identifier: Apache-2.0
// One of several processes of a run, started by the run's launcher: by ours, or by an MPI's, which
// starts its ranks itself. `tenon-runner rank -- PROGRAM ARGUMENT...` starts the program and
// records it in the segment rank-<K>, so that K's output is K's even where the launcher merges
// outputs.
#ifndef TENON_RUNNER_SUPERVISE_RANK_H_
#define TENON_RUNNER_SUPERVISE_RANK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "executor/segment_door.h"
#include "run/layout.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// What a rank is told through the door (executor/segment_door.h); it stands in no environment and
// on no command line.
struct RankJob {
  std::string run_key;
  std::string metrics;               // folder below which it makes one for its own metric files
  std::vector<std::string> secrets;  // values to be masked
  int64_t leftover_grace_us = 0;     // script_run.h

  std::string ToText() const;
  static Result<RankJob> FromText(std::string_view text);
};

// Which rank a process is, by the first of RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK and PMI_RANK that
// is set. nullopt: none is, or it is no number of a segment.
std::optional<int> RankNumber(const Environment& environment);

// Where the ranks of one run ask. Opened by whoever starts the launcher, before that; a launcher
// passes the variable run::env::kRankDoor on.
class RankDoor {
 public:
  // `folder` is for the socket and must be there.
  static Result<RankDoor> Open(const StartRequest& request, const std::string& folder);
  int fd() const { return door_.fd(); }  // readable when a rank asks
  void Serve();                          // gives each that asks its segment, once

 private:
  RankDoor(executor::SegmentDoor door, run::RunFolder folder, RankJob job)
      : door_(std::move(door)), folder_(std::move(folder)), job_(std::move(job)) {}

  executor::SegmentDoor door_;
  run::RunFolder folder_;
  RankJob job_;
};

// The verb. Returns the program's exit code; 125 if it could not be started.
int RunRank(const std::vector<std::string>& words);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_RANK_H_
