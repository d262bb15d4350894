// SPDX-License-Identifier: Apache-2.0
// Finding, looking after and changing recorded runs.
#ifndef TENON_ENGINE_RUN_RUNS_H_
#define TENON_ENGINE_RUN_RUNS_H_

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

// What was submitted, as the submitting client recorded it here; nullopt: no client of this home
// has.
Result<std::optional<run::RunSpec>> SubmittedSpec(const Context& context,
                                                  const std::string& run_id);
// How its launch finds a run again, as a client of this home has recorded it; empty: none has.
run::LaunchHandle HandleOf(const Context& context, const std::string& run_id);
// The id of the machine a run was sent to (engine/host/hosts.h); "" = this one.
Result<std::string> HostOfRun(const Context& context, const std::string& run_id);

// Where to look for news: here, or also on the other machines that runs were sent to. Listings look
// here; a machine that cannot be reached is no Error, what is known is left as it is.
enum class Look { kHere, kThere };

// Brings the index up to date with the journals of unfinished runs, and writes the true end of
// those whose runner is gone. Cheap when nothing is unfinished. A home that cannot be written is no
// Error: what is known is left as it is. A run that can't be read is none either: it is noted as
// unreadable (RunView::unreadable) and the others go on. With kThere the outputs of runs that ended
// while nobody watched are fetched, and a run whose machine was restarted is started again if it
// may be; `reporter`, if given, hears of it. All machines are asked at once, and one that is silent
// delays nobody (engine/run/ask_machines.h).
Status Refresh(Context& context, Look look = Look::kHere, Reporter* reporter = nullptr);
// The same for one run, finished or not. With kThere a machine that cannot be reached is an Error.
Status RefreshRun(Context& context, const std::string& run_id, Look look = Look::kHere,
                  Reporter* reporter = nullptr);

// One run, refreshed. One of which only the folder is known (RunView::untold) is kCorrupt, saying
// why and how to get rid of it.
Result<journal::RunView> GetRun(Context& context, const std::string& run_id,
                                Look look = Look::kHere);

// Asks a run to stop and, with `wait`, follows it to its end. Already finished: success, nothing
// done. One that can't be read is told to end as far as it can be found; kCorrupt says so.
struct CancelOptions {
  std::optional<int64_t> grace_us;  // nullopt: the run's own
  bool wait = true;
  std::string who;  // for the reason; "" = the client's id
  // Told while waiting of what keeps the run from ending; null: nobody.
  Reporter* reporter = nullptr;
};
Result<journal::RunView> Cancel(Context& context, const std::string& run_id,
                                const CancelOptions& options);

// Appends an annotation to this client's near segment of the run.
Status Annotate(Context& context, const std::string& run_id, const run::Annotation& annotation);

// Removes a finished run: folder, index. Its objects go with the next Collect(). kInvalid for one
// that is still going, and without `force` for one whose folder has the only copy of outputs. One
// that can't be read goes too, unless some process still writes to it.
Status DeleteRun(Context& context, const std::string& run_id, bool force = false);

// Drops the index and reads every run folder again. `reporter` hears of each run that can't be
// read.
struct Rebuilt {
  uint64_t runs = 0;        // that the index has now
  uint64_t unreadable = 0;  // that it has and those that it has not
};
Result<Rebuilt> RebuildHistory(Context& context, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUNS_H_
