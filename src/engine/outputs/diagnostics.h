// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_OUTPUTS_DIAGNOSTICS_H_
#define TENON_ENGINE_OUTPUTS_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/context.h"
#include "journal/fold.h"

namespace tenon::engine {

struct Diagnostics {
  uint64_t files = 0;
  uint64_t bytes = 0;                 // of the archive
  std::vector<std::string> problems;  // what could not be read; also in problems.txt
};

// Writes an archive with all that somebody else needs to understand a run:
//
//   about.txt               which Tenon, which system
//   run.json                `record`, the run as listings show it
//   spec.json               what was asked for, and where
//   logs/driver_log.txt     standard output     logs/stderr.txt    standard error
//   logs/control_log.txt    our steps           logs/runner.log    the runner's own words, if any
//   project/…               the project as it was
//
// Nothing secret is in it: passwords are not in snapshots, `--secret` values not in the record, and
// the values of environment variables whose names speak of keys, tokens or passwords are replaced
// by "***" wherever they occur. What cannot be read is said in problems.txt; the rest is there.
Result<Diagnostics> WriteDiagnostics(Context& context, const journal::RunView& run,
                                     const json::Object& record, const std::string& path);

// Whether a variable of this name holds something that nobody else should see.
bool SoundsSecret(std::string_view variable);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_DIAGNOSTICS_H_
