// SPDX-License-Identifier: Apache-2.0
#include "engine/run/runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "engine/outputs/fetch.h"
#include "engine/run/ask_machines.h"
#include "engine/run/claim.h"
#include "engine/run/follow.h"
#include "engine/run/near_segment.h"
#include "engine/run/submit.h"
#include "history/database.h"
#include "journal/kept_outputs.h"
#include "journal/writer.h"
#include "run/layout.h"
#include "run/script_folders.h"

namespace tenon::engine {
namespace {

constexpr size_t kCandidatesShown = 5;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

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

// Whether the machine itself says that it does not know a run that it once had.
bool IsLost(Machine& machine, const journal::RunView& run, const Error& error) {
  return error.kind == ErrorKind::kNotFound && machine.link().heard && machine.runs().HadRun(run);
}

// Ends what is left of a run on a machine that has lost the run's folder. Fails when it is not
// known whether something is left, or when it could not be ended.
Result<run::Proof> EndWhatWasLost(Machine& machine, const journal::RunView& run) {
  run::EndLostRequest request;
  request.run_id = run.spec.id;
  request.key = run.spec.key;
  if (run.runner) request.boot_id = run.runner->process.boot_id;
  request.container = run::TraitsOf(run.spec.executor).in_engine;
  const std::string unknown = machine.host().Describe() + " has lost the folder of " + run.spec.id +
                              "; whether something of the run goes on there is not known";
  auto ended = machine.services().EndLost(request);
  if (!ended.ok()) return std::move(ended).error().Wrap(unknown);
  if (ended->proof.left > 0) {
    return Unavailable(machine.host().Describe() + " has lost the folder of " + run.spec.id +
                       ", and " +
                       Count(static_cast<uint64_t>(ended->proof.left), "process", "processes") +
                       " of it could not be ended");
  }
  if (!ended->known) return Unavailable(unknown + ": " + ended->proof.remark);
  return std::move(ended->proof);
}

run::End EndOfLost(run::Proof proof) {
  run::End end;
  end.state = run::State::kCanceled;
  end.recovered = true;
  end.reason = "its machine has no such run any more";
  if (proof.ended > 0) end.reason += "; what was left of it was ended";
  end.proof = std::move(proof);
  return end;
}

// Ends the copied journal of a lost run.
Status EndLostRun(Context& context, Machine& machine, const journal::RunView& run) {
  TENON_TRY(run::Proof proof, EndWhatWasLost(machine, run));
  const run::RunFolder folder(context.home, run.spec.id);
  TENON_TRY(auto writer,
            journal::Writer::Open({folder.host_segment(), run.spec.key,
                                   std::string(run::kHostSegment), context.clock, false}));
  TENON_TRY_VOID(writer.AppendLast(EndOfLost(std::move(proof))));
  TENON_TRY_VOID(writer.Sync());
  return machine.runs().GiveUp(run.spec.id);
}

// The same for a run without a folder in this home. The journal went with the folder, so the end
// can't be recorded.
Result<journal::RunView> EndUnrecorded(Context& context, Machine& here, journal::RunView run) {
  TENON_TRY(run::Proof proof, EndWhatWasLost(here, run));
  run.end = EndOfLost(std::move(proof));
  run.state = run.end->state;
  run.reason = run.end->reason;
  TENON_TRY(history::HistoryStore * store, context.History());
  TENON_TRY_VOID(store->Delete(run.spec.id));
  return run;
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

// Whether the Error is about the contents of a run's folder.
bool IsDamage(const Error& error) {
  return error.kind == ErrorKind::kCorrupt || error.kind == ErrorKind::kInvalid;
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

Error Unreadable(const std::string& run_id, const std::string& why) {
  return Corrupt("the run " + run_id + " can't be read: " + why)
      .WithHint("`tenon runs delete " + run_id + "` removes it");
}

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

// Cancels a run whose journal can't be read. `why`: what is wrong with the journal.
Error CancelUnreadable(Context& context, const run::CancelRequest& request, const Error& why) {
  const auto host = HostOfRun(context, request.run_id);
  const auto machine = context.At(host.ok() ? *host : "");
  if (!machine.ok()) return machine.error();
  const auto asked = (*machine)->launch().Cancel(request, {});
  const std::string run = "the run " + request.run_id;
  if (!asked.ok()) {
    return Corrupt(run + " could not be told to end: " + asked.error().message +
                   "; its record can't be read: " + why.message)
        .WithHint("`tenon runs delete " + request.run_id + "` removes it if nothing of it goes on");
  }
  return Corrupt(run + " was told to end, but its record can't be read: " + why.message)
      .WithHint("`tenon runs delete " + request.run_id + "` removes it when it has ended");
}

void TellOfRun(const std::string& run_id, const Error& error, Reporter& reporter) {
  reporter.OnNotice({run::Level::kWarning, run_id + ": " + error.message, error.hint});
}

Error NoSuchRun(const std::string& name) {
  return NotFound("no run is called " + name)
      .WithHint(
          "`tenon runs` lists them; a run is named by its id, its number, the beginning of its id, "
          "or `last`");
}

Result<std::optional<run::RunSpec>> SubmittedIn(const std::string& segment) {
  TENON_TRY(auto reader, journal::Reader::Open(segment));
  while (true) {
    TENON_TRY(const auto record, reader.Next());
    if (!record) return std::optional<run::RunSpec>();
    if (record->type != static_cast<uint8_t>(run::EventType::kSubmitted)) continue;
    auto event = run::DecodeEvent(record->type, record->payload);
    if (!event.ok()) continue;  // skipped, as by the fold: another record may say it
    if (auto* submitted = *event ? std::get_if<run::Submitted>(&**event) : nullptr) {
      return std::optional<run::RunSpec>(std::move(submitted->spec));
    }
  }
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
    // A full id may name a run of another project.
    TENON_TRY(ids, store->IdsWithPrefix("", name, kCandidatesShown + 1));
    std::erase_if(ids, [&](const std::string& id) { return id != name; });
  }
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return name;
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) {
    // The index may not have a run folder yet that another client has made.
    if (run::IsValidRunId(name) && IsDirectory(run::RunFolder(context.home, name).path()))
      return name;
    return NoSuchRun(name);
  }
  const bool more = ids.size() > kCandidatesShown;
  if (more) ids.resize(kCandidatesShown);
  return Invalid(name + " could be any of " + Join(ids, ", ") + (more ? ", …" : ""))
      .WithHint("give more of the id, or the run's number");
}

Result<std::optional<run::RunSpec>> SubmittedSpec(const Context& context,
                                                  const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  std::optional<run::RunSpec> none;
  auto names = ListDir(folder.path());
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return none;
    return std::move(names).error();
  }
  std::optional<Error> problem;
  for (const std::string& name : *names) {
    if (!name.starts_with("near-") || !name.ends_with(run::kSegmentSuffix)) continue;
    auto spec = SubmittedIn(JoinPath(folder.path(), name));
    if (spec.ok() && *spec) return spec;
    // The segment of another client may be in order.
    if (!spec.ok()) problem = std::move(spec).error();
  }
  if (problem) return *std::move(problem);
  return none;
}

run::LaunchHandle HandleOf(const Context& context, const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  run::LaunchHandle handle;
  for (const std::string& name : ListDir(folder.path()).value_or({})) {
    if (!name.starts_with("near-") || !name.ends_with(run::kSegmentSuffix)) continue;
    auto reader = journal::Reader::Open(JoinPath(folder.path(), name));
    for (bool more = reader.ok(); more;) {
      const auto record = reader->Next();
      more = record.ok() && *record;
      if (!more || (*record)->type != static_cast<uint8_t>(run::EventType::kHandedOver)) continue;
      auto event = run::DecodeEvent((*record)->type, (*record)->payload);
      auto* over = event.ok() && *event ? std::get_if<run::HandedOver>(&**event) : nullptr;
      if (over != nullptr) handle = std::move(over->handle);
    }
  }
  return handle;
}

Result<std::string> HostOfRun(const Context& context, const std::string& run_id) {
  TENON_TRY(const auto spec, SubmittedSpec(context, run_id));
  return spec ? spec->host : std::string();
}

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

Result<journal::RunView> Cancel(Context& context, const std::string& run_id,
                                const CancelOptions& options) {
  auto found = GetRun(context, run_id);
  // The index can't be updated (a full disk, for example). That must not keep the run from being
  // canceled.
  std::optional<Error> unindexed;
  if (!found.ok() && found.error().kind == ErrorKind::kUnavailable) {
    unindexed = std::move(found).error();
    found = journal::FoldRunFolder(run::RunFolder(context.home, run_id).path());
  }
  run::CancelRequest request;
  request.run_id = run_id;
  request.grace_us = options.grace_us;
  // A missing client id must not prevent the cancel.
  request.who = options.who.empty() ? context.ClientId().value_or("a client") : options.who;
  if (!found.ok() && IsDamage(found.error())) {
    return CancelUnreadable(context, request, found.error());
  }
  TENON_TRY(journal::RunView run, std::move(found));
  if (run::IsFinal(run.state)) return run;
  if (!run.unreadable.empty()) {
    return CancelUnreadable(context, request, Corrupt(run.unreadable));
  }
  TENON_TRY(Machine * machine, context.At(run.spec.host));
  auto asked = machine->launch().Cancel(request, run.handle.value_or(run::LaunchHandle()));
  if (!asked.ok() && IsLost(*machine, run, asked.error())) {
    if (!IsDirectory(run::RunFolder(context.home, run_id).path())) {
      return EndUnrecorded(context, *machine, std::move(run));
    }
    TENON_TRY_VOID(EndLostRun(context, *machine, run));
    TENON_TRY_VOID(RefreshRun(context, run_id));
    return GetRun(context, run_id);
  }
  if (!asked.ok()) return std::move(asked).error();
  if (unindexed) {
    return Unavailable("the run " + run_id +
                       " was told to end, which can't be recorded here: " + unindexed->message)
        .WithHint("make room on this machine; then `tenon status " + run_id + "` shows its end");
  }
  if (options.wait) {
    Reporter silent;
    TENON_TRY_VOID(Follow(context, run_id, {}, options.reporter ? *options.reporter : silent));
  }
  TENON_TRY_VOID(RefreshRun(context, run_id, Look::kThere));
  return GetRun(context, run_id);
}

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
