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

// What a runner's segment says about its run, for whoever comes later.
struct Facts {
  std::optional<run::RunnerStarted> runner;
  std::optional<run::ScriptStarted> script;
  int64_t script_us = 0;
  std::optional<run::ScriptEnded> script_ended;
  std::optional<run::ContainerMade> container;
  run::State state = run::State::kNotStarted;  // the furthest
  std::string state_reason;                    // of CancelRequested
  std::optional<run::End> end;
  bool has_outputs = false;   // outputs/ was collected to the end
  bool outputs_left = false;  // and yet not all of it, or not at all
  MetricPositions metrics;
};

// Reads the whole segment. kNotFound: there is none.
Result<Facts> ReadFacts(const std::string& segment);
// Who supervises the run; the last one, where another has taken over. Read no further than to the
// start of a script that is the runner's own process: output may follow by the gigabyte.
Result<std::optional<run::RunnerStarted>> ReadHandle(const std::string& segment);

// The spec as `start` left it in spec.json.
Result<run::RunSpec> ReadSpec(const std::string& path);

// Whether, by spec.json, all that the run's runner started has the run's mark
// (executor/run_mark.h).
bool IsMarked(const std::string& path);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_FACTS_H_
