// SPDX-License-Identifier: Apache-2.0
// What can be told of run folders here before their journals are read. For those who make room.
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

// The runs that have a folder here, sorted. No folder of runs: none.
Result<std::vector<std::string>> RunIds(const Context& context);

// What the run was asked to do, without its journal. nullopt: it has never been started.
std::optional<run::RunSpec> SpecOf(const Context& context, const std::string& run_id);

// Some segment of the run has a writer, so the run, or its submit, is going on.
bool HasWriter(const run::RunFolder& folder);
// The same of a run that is over, whose runner takes a moment to go: waits that long.
bool WriterStays(const run::RunFolder& folder);

// Removes the working folder of a run that is over, or with `dry_run` only looks. How many bytes
// go. An Error: something of it can't be removed (files of another user, a file system mounted in
// it).
Result<uint64_t> RemoveWorkOf(const run::RunFolder& folder, bool dry_run);

// Why a folder with the only copy of a run's outputs stays, and what makes it superfluous.
std::string WhyOutputsStay(const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUN_FOLDERS_H_
