// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_FACTS_H_
#define TENON_RUNNER_SUPERVISE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "run/event.h"
#include "run/spec.h"
#include "runner/metrics/metric_files.h"

namespace tenon::runner {

// What the runner's segment says about a run. Read by later runners and verbs.
struct Facts {
  std::optional<run::RunnerStarted> runner;
  std::optional<run::ScriptStarted> script;
  int64_t script_us = 0;
  std::optional<run::ScriptEnded> script_ended;
  std::optional<run::ContainerMade> container;
  run::State state = run::State::kNotStarted;  // the furthest on record
  std::string state_reason;                    // why the run was asked to stop
  std::optional<run::End> end;
  bool has_outputs = false;   // the list of outputs is complete
  bool outputs_left = false;  // not all outputs were collected, or none
  MetricPositions metrics;
};

// Reads the whole segment. kNotFound: it does not exist.
Result<Facts> ReadFacts(const std::string& segment);
// Returns the last runner on record: the one that supervises the run. nullopt: no runner is on
// record. Stops reading at a ScriptStarted record, because gigabytes of output may follow it. Such
// a script is the runner's own process and ends with it, so no other runner follows.
Result<std::optional<run::RunnerStarted>> ReadHandle(const std::string& segment);

// Reads the spec that `start` wrote to spec.json. kCorrupt when the file is missing or has no spec.
Result<run::RunSpec> ReadSpec(const std::string& path);

// Whether spec.json says that every process started by the run's runner has the run's mark
// (executor/run_mark.h). False when the file can't be read.
bool IsMarked(const std::string& path);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_FACTS_H_
