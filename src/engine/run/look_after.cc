// SPDX-License-Identifier: Apache-2.0
// Brings what is known of unfinished runs up to date.
#include <sys/stat.h>

#include <map>

#include "base/file.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "engine/outputs/fetch.h"
#include "engine/run/ask_machines.h"
#include "engine/run/near_segment.h"
#include "engine/run/run_errors.h"
#include "engine/run/runs.h"
#include "engine/run/submit.h"
#include "history/database.h"
#include "journal/writer.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

// Opens the near segment of a submit that is over. Returns nullopt while the submit goes on.
Result<std::optional<journal::Writer>> TakeOverSubmit(Context& context,
                                                      const run::RunFolder& folder,
                                                      const journal::RunView& run) {
  if (run.client.empty()) return std::optional<journal::Writer>();
  auto writer =
      OpenNearSegment(folder, run.spec.key, run.client, context.clock, EndComesHere::kYes);
  if (writer.ok()) return std::optional<journal::Writer>(std::move(*writer));
  if (writer.error().kind == ErrorKind::kUnavailable) return std::optional<journal::Writer>();
  return std::move(writer).error();
}

Status SayNeverStarted(journal::Writer& writer) {
  run::End end;
  end.never_started = true;
  end.recovered = true;
  end.exit_code = 125;
  end.reason = "submit was killed before the run was handed to the host";
  TENON_TRY_VOID(writer.AppendLast(end));
  return writer.Sync();
}

// A submit that was killed before it reached the machine left a near segment without a writer, and
// the machine does not know the run. Writes that end into the journal, so that the run does not
// stay NotStarted forever.
Status EndAbandonedSubmit(Context& context, const run::RunFolder& folder,
                          const journal::RunView& run, RunFeed& feed) {
  TENON_TRY(auto writer, TakeOverSubmit(context, folder, run));
  if (!writer) return {};
  // Asks the machine again: at the first answer the submit may have been about to start the run.
  TENON_TRY(const RunFeed::Heard heard, feed.CatchUp());
  if (heard != RunFeed::Heard::kUnknown) return {};
  // An empty copy exists only because a lock needed a file.
  struct stat st {};
  if (::stat(folder.host_segment().c_str(), &st) == 0 && st.st_size == 0) {
    TENON_TRY_VOID(RemoveFile(folder.host_segment()));
  }
  return SayNeverStarted(*writer);
}

// For a run that is over, whose machine has nothing of it any more.
Status SayOutputsAreGone(Context& context, Machine& far, const std::string& run_id,
                         Reporter& reporter) {
  // If even the folder of runs is missing, its file system may be unmounted.
  const auto runs = far.host().ReadFrom(far.home().runs(), 0, 0);
  if (!runs.ok() && runs.error().kind == ErrorKind::kUnavailable) return runs.error();
  const bool removed = runs.ok() || runs.error().kind != ErrorKind::kNotFound;
  reporter.OnNotice(
      {run::Level::kWarning,
       far.host().Describe() + " has " + (removed ? "removed" : "not got") + " what " + run_id +
           " left there; its outputs were never fetched",
       removed ? ""
               : "is the disk of its home mounted? `tenon status " + run_id + "` looks again"});
  return removed ? MarkFetched(context, run_id) : Status();
}

// Looks at an unfinished run, or at one whose outputs are not here: copies its journal, has its end
// written if nobody writes any more, and fetches what it has left.
Status LookAt(Context& context, Machine& machine, const journal::RunView& run, Look look,
              Reporter& reporter) {
  const std::string& id = run.spec.id;
  bool whole = false;
  {
    const auto feed = machine.runs().Feed(id, {});
    TENON_TRY(const RunFeed::Heard heard, feed->CatchUp());
    if (heard == RunFeed::Heard::kUnknown && run.handle) {
      // The run may be waiting for its turn.
      auto found = machine.launch().Recover(id, *run.handle);
      if (found.ok() && found->recovered) TENON_TRY_VOID(feed->CatchUp());
      if (found.ok()) return {};
      if (found.error().kind != ErrorKind::kNotFound) return std::move(found).error();
    }
    if (heard == RunFeed::Heard::kUnknown) {
      if (WasHandedOver(run)) return machine.runs().LostRun(id, NotFound("no run " + id));
      return EndAbandonedSubmit(context, run::RunFolder(context.home, id), run, *feed);
    }
    if (heard == RunFeed::Heard::kEnded) {
      auto found = machine.launch().Recover(id, run.handle.value_or(run::LaunchHandle()));
      if (!found.ok() && found.error().kind == ErrorKind::kNotFound) {
        if (!run::IsFinal(run.state)) return machine.runs().LostRun(id, found.error());
        return SayOutputsAreGone(context, machine, id, reporter);
      }
      if (!found.ok()) return std::move(found).error();
      if (found->recovered) TENON_TRY_VOID(feed->CatchUp());
    }
    TENON_TRY(whole, feed->IsWhole());
    const auto stopped = look == Look::kThere ? feed->stopped() : std::nullopt;
    if (stopped) reporter.OnStuck(StoppedNotice(id, *stopped));
  }
  NoteHeard(context.home, run.spec.host, context.clock->NowUs());
  return whole ? machine.runs().BringHome(id, reporter) : Status();
}

// Looks at the run on its machine; with kHere only if that is this machine.
Status LookAfter(Context& context, const journal::RunView& run, Look look, Reporter& reporter) {
  if (look == Look::kHere && run.spec.IsElsewhere()) return {};
  TENON_TRY(Machine * machine, context.At(run.spec.host));
  return LookAt(context, *machine, run, look, reporter);
}

// Whether there is nothing to look for. A run that ended on another machine while nobody watched
// may still have outputs there.
bool NothingToLookFor(const Context& context, const journal::RunView& run, Look look) {
  if (!run::IsFinal(run.state)) return false;
  return !run.spec.IsElsewhere() || look == Look::kHere || run.end->never_started ||
         OutputsFetched(context, run.spec.id);
}

Status IngestAndLookAfter(Context& context, history::HistoryStore& store, const std::string& run_id,
                          Look look, Reporter& reporter) {
  const std::string folder = run::RunFolder(context.home, run_id).path();
  if (!Exists(folder)) {
    // The user removed the folder. A run that goes on stays listed until it is canceled or gone.
    return history::GoesOnWithoutFolder(store, run_id) ? Status() : store.Delete(run_id);
  }
  TENON_TRY_VOID(history::IngestRunFolder(store, run_id, folder));
  auto run = store.Get(run_id);
  if (!run.ok()) return run.error().kind == ErrorKind::kNotFound ? Status() : Status(run.error());
  if (NothingToLookFor(context, *run, look)) return {};
  auto looked = LookAfter(context, *run, look, reporter);
  if (!looked.ok() && !run->spec.IsElsewhere() && IsDamage(looked.error())) {
    // The journal is in order, but the run's end can't be found out.
    (void)store.SetUnreadable(run_id, looked.error().message, *run).ok();
  }
  if (!looked.ok()) return looked;
  return history::IngestRunFolder(store, run_id, folder);
}

void TellOfRun(const std::string& run_id, const Error& error, Reporter& reporter) {
  reporter.OnNotice({run::Level::kWarning, run_id + ": " + error.message, error.hint});
}

}  // namespace

Status RefreshRun(Context& context, const std::string& run_id, Look look, Reporter* reporter) {
  TENON_TRY(history::HistoryStore * store, context.History());
  Reporter silent;
  return IngestAndLookAfter(context, *store, run_id, look, reporter ? *reporter : silent);
}

Status Refresh(Context& context, Look look, Reporter* reporter) {
  Reporter silent;
  Reporter& told = reporter ? *reporter : silent;
  TENON_TRY(history::HistoryStore * store, context.History());
  history::RunQuery query;
  query.unfinished_only = true;
  query.include_hidden = true;
  query.include_untracked = true;
  query.include_unreadable = true;
  // Keeps only the id and machine of each run: there may be many rows, and each may be large.
  std::vector<std::pair<std::string, std::string>> runs;  // id, machine
  TENON_TRY_VOID(store->Visit(query, [&](const history::RunRow& row) {
    runs.emplace_back(row.spec.id, row.spec.host);
    return Status();
  }));
  std::map<std::string, RunsOfMachine> elsewhere;
  for (const auto& [id, host] : runs) {
    if (!host.empty() && look == Look::kThere) {
      elsewhere.try_emplace(host, RunsOfMachine{host, {}}).first->second.runs.push_back(id);
      continue;
    }
    auto status = IngestAndLookAfter(context, *store, id, look, told);
    if (status.ok()) continue;
    const Error& error = status.error();
    // A run that can't be read is marked; listings report it.
    if (host.empty() && (error.kind == ErrorKind::kDenied || IsDamage(error))) {
      if (error.hint == history::kRebuildHint) return status;
      continue;
    }
    if (host.empty() && error.kind != ErrorKind::kNotFound) return status;
    TellOfRun(id, error, told);
  }
  std::vector<RunsOfMachine> machines;
  for (auto& [host, those] : elsewhere) machines.push_back(std::move(those));
  if (machines.empty()) return {};
  AskMachines(
      context, machines,
      [](Context& own, const std::string& id, Reporter& tell) {
        const auto looked = RefreshRun(own, id, Look::kThere, &tell);
        if (!looked.ok()) TellOfRun(id, looked.error(), tell);
      },
      told);
  return {};
}

Result<journal::RunView> GetRun(Context& context, const std::string& run_id, Look look) {
  TENON_TRY(history::HistoryStore * store, context.History());
  auto known = store->Get(run_id);
  if (known.ok() && run::IsFinal(known->state)) {
    // Another client may have added annotations; the journal is the truth.
    const run::RunFolder folder(context.home, run_id);
    if (IsDirectory(folder.path())) (void)history::IngestRunFolder(*store, run_id, folder.path());
    return store->Get(run_id);
  }
  auto status = RefreshRun(context, run_id, look);
  auto run = store->Get(run_id);
  const bool noted = run.ok() && !run->unreadable.empty();
  if (noted && run->untold) return Unreadable(run_id, run->unreadable);
  // What was known before the problem is still worth showing.
  if (!status.ok() && !noted && status.error().kind != ErrorKind::kDenied) {
    return std::move(status).error();
  }
  if (!run.ok() && run.error().kind == ErrorKind::kNotFound) return NoSuchRun(run_id);
  return run;
}

}  // namespace tenon::engine
