// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_RECORD_SCRIPT_H_
#define TENON_RUNNER_SUPERVISE_RECORD_SCRIPT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "executor/process_script.h"
#include "runner/supervise/recorder.h"

namespace tenon::runner {

// A script that is started by a program of its own, which records it in a segment of its own: the
// init of a container, or one of several processes that a launcher starts.
struct ScriptOfOurs {
  std::string run_key;
  std::string segment;  // its name
  executor::Part part = executor::Part::kWhole;
  std::vector<std::string> secrets;  // values to be masked
  std::string metrics;               // folder of the metric files
  int64_t leftover_grace_us = 0;     // script_run.h
  // Returns what to start. Called as soon as events can be recorded. Its Error is recorded as the
  // script's end.
  std::function<Result<executor::ProcessRequest>(Recorder&)> find;
};

// Starts the script and records its output, metrics and exit in `segment`. A SIGTERM or SIGINT to
// this program sends SIGTERM to the script. Returns the exit code once everything is recorded and
// the segment is closed. An Error means that the segment can't be written and nothing was started.
Result<int> RecordScript(UniqueFd segment, ScriptOfOurs script);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_RECORD_SCRIPT_H_
