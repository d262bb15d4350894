// SPDX-License-Identifier: Apache-2.0
// Finding, looking after and changing recorded runs.
#ifndef TENON_ENGINE_RUNS_H_
#define TENON_ENGINE_RUNS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "history/store.h"
#include "journal/fold.h"
#include "run/event.h"

namespace tenon::engine {

// The run a user means: an id, a number within the project, a unique beginning of an id, or "last".
// `project_id` empty: all projects (numbers then need a project). kNotFound with a hint, kInvalid
// when several fit (naming them).
Result<std::string> ResolveRun(Context& context, const std::string& project_id,
                               const std::string& name);

// Brings the index up to date with the journals of unfinished runs on this machine, and writes the
// true end of those whose runner is gone. Cheap when nothing is unfinished. A home that cannot be
// written is no Error: what is known is left as it is.
Status Refresh(Context& context);
// The same for one run, finished or not.
Status RefreshRun(Context& context, const std::string& run_id);

// One run, refreshed.
Result<journal::RunView> GetRun(Context& context, const std::string& run_id);

// Asks a run to stop and, with `wait`, follows it to its end. Already finished: success, nothing
// done.
struct CancelOptions {
  std::optional<int64_t> grace_us;  // nullopt: the run's own
  bool wait = true;
};
Result<journal::RunView> Cancel(Context& context, const std::string& run_id,
                                const CancelOptions& options);

// Appends an annotation to this client's near segment of the run.
Status Annotate(Context& context, const std::string& run_id, const run::Annotation& annotation);

// Removes a finished run: folder, index. Its objects go with the next Collect(). kInvalid for one
// that is still going.
Status DeleteRun(Context& context, const std::string& run_id);

// Drops the index and reads every run folder again. Returns how many runs it has now.
Result<uint64_t> RebuildHistory(Context& context, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUNS_H_
