// SPDX-License-Identifier: Apache-2.0
// Lists the runs that are kept below a home, for `hosted` and `watch-idle`.
#ifndef TENON_RUNNER_VERBS_HOSTED_RUNS_H_
#define TENON_RUNNER_VERBS_HOSTED_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "journal/fold.h"
#include "run/layout.h"
#include "run/requests.h"
#include "run/spec.h"
#include "run/state.h"

namespace tenon::runner {

struct HostedRun {
  std::string id;
  run::RunSpec spec;  // as far as it can be read
  run::State state = run::State::kNotStarted;
  std::string reason;
  bool alive = false;
  bool over = false;                   // its end is on record
  bool outputs_left = false;           // its folder has the only copy of outputs
  int64_t created_us = 0;              // 0: not known
  int64_t ended_us = 0;                // 0: not over
  int64_t last_us = 0;                 // its newest record, or the last change of its folder
  std::vector<Hash> trees;             // of its project and of its outputs
  std::vector<Hash> objects;           // its outputs
  uint64_t bytes = 0, work_bytes = 0;  // on disk

  run::HostedRun Told() const;  // as `hosted` tells a client
};

// Reads what a segment says, as far as it can be read.
journal::SegmentFold FoldSegment(const std::string& path, std::string_view name);

// Whether the run goes on: its runner is alive, or its container may be.
bool IsRunAlive(const run::RunFolder& folder);

std::vector<std::string> RunIds(const run::Home& home);
// Newest first. Reads every journal to its end.
std::vector<HostedRun> ListHostedRuns(const run::Home& home);

// What goes on at a home, found mostly from file times and locks. Of journals, reads only host.tj
// of runs in containers.
struct Activity {
  bool alive = false;   // a run goes on
  int64_t last_us = 0;  // last change of a journal, an upload or home.used(); 0: none
  int64_t newest_run_us = 0;
};
Activity LookAtActivity(const run::Home& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_HOSTED_RUNS_H_
