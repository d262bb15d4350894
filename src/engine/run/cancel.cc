// SPDX-License-Identifier: Apache-2.0
// Ends a run, also one that its machine or its record has lost.
#include "base/file.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "engine/run/follow.h"
#include "engine/run/run_errors.h"
#include "engine/run/runs.h"
#include "journal/writer.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

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

}  // namespace

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

}  // namespace tenon::engine
