// SPDX-License-Identifier: Apache-2.0
#include "engine/run/runs.h"

#include "base/file.h"
#include "base/text.h"
#include "engine/run/claim.h"
#include "engine/run/near_segment.h"
#include "engine/run/run_errors.h"
#include "history/database.h"
#include "journal/kept_outputs.h"
#include "run/layout.h"
#include "run/script_folders.h"

namespace tenon::engine {
namespace {

// Whether some process writes to a segment of a run that can't be read. Unlike HasWriter(), takes
// what can't be asked for no writer: what lies in place of a segment must not keep a damaged run
// from being deleted.
bool IsWrittenTo(const run::RunFolder& folder) {
  for (const std::string& name : ListDir(folder.path()).value_or({})) {
    if (!name.ends_with(run::kSegmentSuffix)) continue;
    if (IsLockedByOther(JoinPath(folder.path(), name)).value_or(false)) return true;
  }
  return false;
}

}  // namespace

Status Annotate(Context& context, const std::string& run_id, const run::Annotation& annotation) {
  TENON_TRY(const journal::RunView run, GetRun(context, run_id));
  TENON_TRY(const std::string client, context.ClientId());
  const run::RunFolder folder(context.home, run_id);
  // Held only while appending: another command of this client may append, too.
  TENON_TRY(auto lock, FileLock::Take(folder.near_segment(client) + ".lock", true));
  TENON_TRY(auto writer,
            OpenNearSegment(folder, run.spec.key, client, context.clock, EndComesHere::kNo));
  // The index would not notice a new record of a run that is over. So until the index has it, the
  // index counts as out of date and every reader checks all runs.
  TENON_TRY(history::HistoryStore * store, context.History());
  TENON_TRY(const history::Seen seen, store->LastSeen());
  TENON_TRY_VOID(store->MarkSeen({}));
  TENON_TRY_VOID(writer.Append(annotation));
  TENON_TRY_VOID(writer.Sync());
  TENON_TRY_VOID(history::IngestRunFolder(*store, run_id, folder.path()));
  return store->MarkSeen(seen, history::Seen{});
}

Status DeleteRun(Context& context, const std::string& run_id, bool force) {
  const run::RunFolder folder(context.home, run_id);
  const auto run = GetRun(context, run_id);
  const bool readable = run.ok() && run->unreadable.empty();
  if (!run.ok() && !IsDamage(run.error()) && run.error().kind != ErrorKind::kDenied) {
    return run.error();
  }
  if (!readable && IsWrittenTo(folder)) {
    return Invalid("the run " + run_id + " can't be read, and some process still writes to it")
        .WithHint("`tenon cancel " + run_id + "` first");
  }
  if (readable && !run::IsFinal(run->state)) {
    return Invalid("the run " + run_id + " is " + std::string(run::StateName(run->state)))
        .WithHint("`tenon cancel " + run_id + "` first");
  }
  const bool here = readable && !run->spec.IsElsewhere();
  if (!force && here && journal::OutputsAreLeft(folder, *run)) {
    return Invalid("outputs of " + run_id + " are not collected; the only copy would go with it")
        .WithHint("`tenon runs collect " + run_id + "` collects them; --force deletes them too");
  }
  const auto store = context.History();
  if (run.ok() && store.ok() && run->spec.number > 0 &&
      (*store)->LastNumber(run->spec.project_id).value_or(0) <= run->spec.number) {
    // The journal was the best record of the number. If keeping it fails, for example on a full
    // disk, the run is deleted all the same.
    (void)KeepRunNumber(context, run->spec.project_id, run->spec.number).ok();
  }
  TENON_TRY_VOID(run::RemoveRun(folder));
  if (!store.ok()) return store.error();
  return (*store)->Delete(run_id);
}

Result<Rebuilt> RebuildHistory(Context& context, Reporter& reporter) {
  auto opened = context.History();
  if (!opened.ok()) {
    if (opened.error().kind != ErrorKind::kCorrupt) return std::move(opened).error();
    TENON_TRY(const std::string path, history::IndexPath(context.home.root()));
    TENON_TRY(context.history_store, history::RecreateSqliteStore(path));
    opened = context.history_store.get();
  }
  history::HistoryStore& store = **opened;
  TENON_TRY_VOID(store.Clear());
  TENON_TRY(const auto rebuilt,
            history::RebuildHistory(store, context.home.runs(), [&](uint64_t done, uint64_t total) {
              reporter.OnProgress("reading journals", done, total);
            }));
  for (const Error& problem : rebuilt.problems) {
    if (problem.kind != ErrorKind::kUnavailable && problem.kind != ErrorKind::kInternal) continue;
    reporter.OnNotice({run::Level::kWarning, problem.message, problem.hint});
  }
  // A run also counts as unreadable if its end can't be found out.
  TENON_TRY_VOID(Refresh(context));
  history::RunQuery all;
  all.include_hidden = all.include_untracked = true;
  Rebuilt now;
  TENON_TRY(now.runs, store.CountRuns(all));
  all.include_unreadable = true;
  TENON_TRY_VOID(store.Visit(all, [&](const history::RunRow& row) {
    if (row.unreadable.empty()) return Status();
    ++now.unreadable;
    const Error error = Unreadable(row.spec.id, row.unreadable);
    reporter.OnNotice({run::Level::kWarning, error.message, error.hint});
    return Status();
  }));
  return now;
}

}  // namespace tenon::engine
