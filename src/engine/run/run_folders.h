// SPDX-License-Identifier: Apache-2.0
// What is known of run folders in this home before their journals are read. For functions that free
// disk space.
#ifndef TENON_ENGINE_RUN_RUN_FOLDERS_H_
#define TENON_ENGINE_RUN_RUN_FOLDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "run/layout.h"
#include "run/spec.h"

namespace tenon::engine {

// The ids of the runs that have a folder in this home, sorted. Empty when there is no folder of
// runs.
Result<std::vector<std::string>> RunIds(const Context& context);

// What the run was asked to do, found without reading its whole journal; nullopt: it was never
// started, or its spec can't be read.
std::optional<run::RunSpec> SpecOf(const Context& context, const std::string& run_id);

// Whether some segment of the run has a writer: the run, or its submit, is going on.
bool HasWriter(const run::RunFolder& folder);
// The same for a run that is over; gives its runner a moment to end.
bool WriterStays(const run::RunFolder& folder);

// Removes the working folder of a run that is over; with `dry_run` only looks. Returns how many
// bytes that frees. Fails when something in it can't be removed (files of another user, a file
// system mounted in it).
Result<uint64_t> RemoveWorkOf(const run::RunFolder& folder, bool dry_run);

// Why a folder with the only copy of a run's outputs is kept, and which command makes it removable.
std::string WhyOutputsStay(const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUN_FOLDERS_H_
