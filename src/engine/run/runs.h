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

// The id of the run that a user names by an id, a number within the project, a unique beginning of
// an id, or "last". Empty `project_id`: all projects (a number then needs a project). Fails with
// kNotFound and a hint, or with kInvalid, naming the candidates, when several fit.
Result<std::string> ResolveRun(Context& context, const std::string& project_id,
                               const std::string& name);

// What was submitted, as a client of this home recorded it; nullopt: no client of this home did.
Result<std::optional<run::RunSpec>> SubmittedSpec(const Context& context,
                                                  const std::string& run_id);
// The handle by which the launch finds the run again, as a client of this home recorded it; empty:
// none did.
run::LaunchHandle HandleOf(const Context& context, const std::string& run_id);
// The id of the machine that a run was sent to (engine/host/hosts.h); "" = this one.
Result<std::string> HostOfRun(const Context& context, const std::string& run_id);

// Where to look for news: on this machine only (kHere, as listings do), or also on the machines
// that runs were sent to (kThere).
enum class Look { kHere, kThere };

// Brings the index up to date with the journals of unfinished runs, and writes the true end of runs
// whose runner is gone. Cheap when nothing is unfinished. A home that can't be written is no Error:
// the index then stays as it is. Neither is a run that can't be read: it is marked
// (RunView::unreadable) and the other runs are refreshed. A machine that can't be reached is no
// Error either.
//
// With kThere it also fetches the outputs of runs that ended while nobody watched; `reporter`, if
// given, hears of it. All machines are asked at once, and a silent one delays no other
// (engine/run/ask_machines.h). Runs whose machine was restarted are not started again;
// RetryAfterRestart() does that.
Status Refresh(Context& context, Look look = Look::kHere, Reporter* reporter = nullptr);
// The same for one run, finished or not. With kThere a machine that can't be reached is an Error.
Status RefreshRun(Context& context, const std::string& run_id, Look look = Look::kHere,
                  Reporter* reporter = nullptr);

// One run, refreshed. A run of which only the folder is known (RunView::untold) is kCorrupt; the
// Error says why, and how to remove the run.
Result<journal::RunView> GetRun(Context& context, const std::string& run_id,
                                Look look = Look::kHere);

// Asks a run to stop and, with `wait`, follows it to its end. A finished run: success, nothing is
// done. A run that can't be read is told to stop if it can be found; the call then fails with
// kCorrupt, which says what was done.
struct CancelOptions {
  std::optional<int64_t> grace_us;  // nullopt: the run's own
  bool wait = true;
  std::string who;  // who cancels, for the reason; "" = the client's id
  // Hears, while waiting, what keeps the run from ending; null: nobody hears it.
  Reporter* reporter = nullptr;
};
Result<journal::RunView> Cancel(Context& context, const std::string& run_id,
                                const CancelOptions& options);

// Appends an annotation to this client's near segment of the run.
Status Annotate(Context& context, const std::string& run_id, const run::Annotation& annotation);

// Removes a finished run: its folder and its index entry. Its objects go with the next Collect().
// Fails with kInvalid for a run that is still going, and, without `force`, for a run whose folder
// has the only copy of outputs. A run that can't be read is removed too, unless a process still
// writes to it.
Status DeleteRun(Context& context, const std::string& run_id, bool force = false);

// Drops the index and reads every run folder again. `reporter` hears of each run that can't be
// read.
struct Rebuilt {
  uint64_t runs = 0;        // runs in the new index
  uint64_t unreadable = 0;  // runs that can't be read; some of them count in `runs`, too
};
Result<Rebuilt> RebuildHistory(Context& context, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUNS_H_
