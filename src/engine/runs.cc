// SPDX-License-Identifier: Apache-2.0
#include "engine/runs.h"

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "engine/follow.h"
#include "journal/writer.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kCandidatesShown = 5;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A submit that was killed before it reached a host has left a near segment that nobody writes and
// no far one. Says so in the journal, so that the run does not stay NotStarted for ever.
Status EndAbandonedSubmit(Context& context, const run::RunFolder& folder,
                          const journal::RunView& run) {
  if (run.client.empty() || Exists(folder.host_segment())) return {};
  const std::string segment = "near-" + run.client;
  auto writer = journal::Writer::Open(
      {folder.segment(segment), run.spec.key, segment, context.clock, /*reserve=*/true});
  if (!writer.ok()) {
    if (writer.error().kind == ErrorKind::kUnavailable) return {};  // still being submitted
    return std::move(writer).error();
  }
  if (Exists(folder.host_segment())) return {};
  run::End end;
  end.never_started = true;
  end.recovered = true;
  end.exit_code = 125;
  end.reason = "submit was killed before the run was handed to the host";
  TENON_TRY_VOID(writer->AppendLast(end));
  return writer->Sync();
}

// Writes the true end of a run that claims to go on but has no living writer.
Status LookAfter(Context& context, const journal::RunView& run) {
  const run::RunFolder folder(context.home, run.spec.id);
  if (!Exists(folder.host_segment())) return EndAbandonedSubmit(context, folder, run);
  TENON_TRY(const bool alive, context.host->IsLocked(folder.host_segment()));
  if (alive) return {};
  TENON_TRY_VOID(context.launch->Recover(run.spec.id));
  return {};
}

Status IngestAndLookAfter(Context& context, history::HistoryStore& store,
                          const std::string& run_id) {
  const std::string folder = run::RunFolder(context.home, run_id).path();
  if (!IsDirectory(folder)) return store.Delete(run_id);  // removed by hand
  TENON_TRY_VOID(history::IngestRunFolder(store, run_id, folder));
  auto run = store.Get(run_id);
  if (!run.ok()) return run.error().kind == ErrorKind::kNotFound ? Status() : Status(run.error());
  if (run::IsFinal(run->state)) return {};
  TENON_TRY_VOID(LookAfter(context, *run));
  return history::IngestRunFolder(store, run_id, folder);
}

Error NoSuchRun(const std::string& name) {
  return NotFound("no run is called " + name)
      .WithHint(
          "`tenon runs` lists them; a run is named by its id, its number, the beginning of its id, "
          "or `last`");
}

}  // namespace

Result<std::string> ResolveRun(Context& context, const std::string& project_id,
                               const std::string& name) {
  TENON_TRY(history::HistoryStore * store, context.History());
  if (name == "last") {
    history::RunQuery query;
    query.project_id = project_id;
    query.limit = 1;
    TENON_TRY(const auto rows, store->List(query));
    if (rows.empty()) {
      return NotFound("there is no run yet").WithHint("`tenon submit train.py` starts one");
    }
    return rows.front().spec.id;
  }
  if (IsDigits(name) && name.size() < 10) {
    TENON_TRY(const auto id,
              store->IdOfNumber(project_id, std::strtoll(name.c_str(), nullptr, 10)));
    if (id) return *id;
  }
  TENON_TRY(auto ids, store->IdsWithPrefix(project_id, name, kCandidatesShown + 1));
  if (ids.empty() && !project_id.empty()) {
    // Named in full, a run may belong to another project.
    TENON_TRY(ids, store->IdsWithPrefix("", name, kCandidatesShown + 1));
    std::erase_if(ids, [&](const std::string& id) { return id != name; });
  }
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return name;
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) {
    // The index may lag behind a run folder that another client made.
    if (run::IsValidRunId(name) && IsDirectory(run::RunFolder(context.home, name).path()))
      return name;
    return NoSuchRun(name);
  }
  const bool more = ids.size() > kCandidatesShown;
  if (more) ids.resize(kCandidatesShown);
  return Invalid(name + " could be any of " + Join(ids, ", ") + (more ? ", …" : ""))
      .WithHint("give more of the id, or the run's number");
}

Status RefreshRun(Context& context, const std::string& run_id) {
  TENON_TRY(history::HistoryStore * store, context.History());
  return IngestAndLookAfter(context, *store, run_id);
}

Status Refresh(Context& context) {
  TENON_TRY(history::HistoryStore * store, context.History());
  history::RunQuery query;
  query.unfinished_only = true;
  query.include_hidden = true;
  query.include_untracked = true;
  TENON_TRY(const auto rows, store->List(query));
  for (const auto& row : rows) {
    auto status = IngestAndLookAfter(context, *store, row.spec.id);
    if (!status.ok() && status.error().kind != ErrorKind::kDenied) return status;
  }
  return {};
}

Result<journal::RunView> GetRun(Context& context, const std::string& run_id) {
  TENON_TRY(history::HistoryStore * store, context.History());
  auto known = store->Get(run_id);
  if (known.ok() && run::IsFinal(known->state)) {
    // Annotations may have been added by hand of another client; the journal is the truth.
    const run::RunFolder folder(context.home, run_id);
    if (IsDirectory(folder.path())) (void)history::IngestRunFolder(*store, run_id, folder.path());
    return store->Get(run_id);
  }
  auto status = IngestAndLookAfter(context, *store, run_id);
  if (!status.ok() && status.error().kind != ErrorKind::kDenied) return std::move(status).error();
  auto run = store->Get(run_id);
  if (!run.ok() && run.error().kind == ErrorKind::kNotFound) return NoSuchRun(run_id);
  return run;
}

Result<journal::RunView> Cancel(Context& context, const std::string& run_id,
                                const CancelOptions& options) {
  TENON_TRY(journal::RunView run, GetRun(context, run_id));
  if (run::IsFinal(run.state)) return run;
  TENON_TRY(const std::string client, context.ClientId());
  launch::CancelRequest request;
  request.run_id = run_id;
  request.grace_us = options.grace_us;
  request.who = client;
  TENON_TRY_VOID(context.launch->Cancel(request));
  if (options.wait) {
    Reporter silent;
    TENON_TRY_VOID(Follow(context, run_id, {}, silent));
  }
  TENON_TRY_VOID(RefreshRun(context, run_id));
  return GetRun(context, run_id);
}

Status Annotate(Context& context, const std::string& run_id, const run::Annotation& annotation) {
  TENON_TRY(const journal::RunView run, GetRun(context, run_id));
  TENON_TRY(const std::string client, context.ClientId());
  const run::RunFolder folder(context.home, run_id);
  // Held for the moment of the append only; another command of this client may be doing the same.
  TENON_TRY(auto lock, FileLock::Take(folder.near_segment(client) + ".lock", true));
  TENON_TRY(auto writer, journal::Writer::Open({folder.near_segment(client), run.spec.key,
                                                "near-" + client, context.clock, false}));
  TENON_TRY_VOID(writer.Append(annotation));
  TENON_TRY_VOID(writer.Sync());
  TENON_TRY(history::HistoryStore * store, context.History());
  return history::IngestRunFolder(*store, run_id, folder.path());
}

Status DeleteRun(Context& context, const std::string& run_id) {
  TENON_TRY(const journal::RunView run, GetRun(context, run_id));
  if (!run::IsFinal(run.state)) {
    return Invalid("the run " + run_id + " is " + std::string(run::StateName(run.state)))
        .WithHint("`tenon cancel " + run_id + "` first");
  }
  TENON_TRY_VOID(RemoveTree(run::RunFolder(context.home, run_id).path()));
  TENON_TRY(history::HistoryStore * store, context.History());
  return store->Delete(run_id);
}

Result<uint64_t> RebuildHistory(Context& context, Reporter& reporter) {
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
    reporter.OnNotice({run::Level::kWarning, problem.message, problem.hint});
  }
  history::RunQuery all;
  all.include_hidden = all.include_untracked = true;
  return store.CountRuns(all);
}

}  // namespace tenon::engine
