// SPDX-License-Identifier: Apache-2.0
// The verb `rank`: one of several processes of a run. The run's launcher starts them: ours, or that
// of an MPI, which starts its ranks itself. `tenon-runner rank -- PROGRAM ARGUMENT...` starts the
// program and records it in the segment rank-<K>, so that the output of rank K stays apart even if
// the launcher merges outputs.
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

// What a rank gets through the door (executor/segment_door.h). It holds secrets, so it is in no
// environment and on no command line.
struct RankJob {
  std::string run_key;
  std::string metrics;               // the rank makes a folder in it for its metric files
  std::vector<std::string> secrets;  // values to be masked
  int64_t leftover_grace_us = 0;     // script_run.h

  std::string ToText() const;
  static Result<RankJob> FromText(std::string_view text);
};

// Which rank a process is, by the first of RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK and PMI_RANK that
// is set. nullopt: none is set, or its value is not a number below run::kMostFarSegments.
std::optional<int> RankNumber(const Environment& environment);

// Gives each rank of one run its segment. Must be opened before the launcher is started. The
// launcher passes the variable run::env::kRankDoor, which names the folder, on to the ranks.
class RankDoor {
 public:
  // `folder` gets the socket. It must exist.
  static Result<RankDoor> Open(const StartRequest& request, const std::string& folder);
  int fd() const { return door_.fd(); }  // readable when a rank asks
  void Serve();                          // answers the ranks that ask now; serves each number once

 private:
  RankDoor(executor::SegmentDoor door, run::RunFolder folder, RankJob job)
      : door_(std::move(door)), folder_(std::move(folder)), job_(std::move(job)) {}

  executor::SegmentDoor door_;
  run::RunFolder folder_;
  RankJob job_;
};

// Runs the verb. Returns the program's exit code; 125 if it could not be started.
int RunRank(const std::vector<std::string>& words);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_RANK_H_
