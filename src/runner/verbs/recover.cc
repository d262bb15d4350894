// SPDX-License-Identifier: Apache-2.0
// The verb `recover`: writes the true end of a run whose runner is gone. The next client that looks
// at the run asks for it.
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "executor/cgroup.h"
#include "executor/process_tree.h"
#include "journal/fold.h"
#include "journal/reader.h"
#include "journal/segments.h"
#include "journal/writer.h"
#include "run/script_folders.h"
#include "run/state.h"
#include "runner/supervise/collect.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/verbs/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kEndLimitUs = 10'000'000;
constexpr int64_t kDyingUs = 10'000'000;
constexpr useconds_t kLookUs = 5'000;
constexpr int kCanceledCode = 143;

bool Rebooted(const Facts& facts) {
  std::string now = BootId();
  return facts.runner && !now.empty() && !facts.runner->process.boot_id.empty() &&
         facts.runner->process.boot_id != now;
}

run::Proof EndWhatIsLeft(const RunName& run, const Facts& facts, const run::RunSpec& spec) {
  executor::TreeQuery query;
  query.run_key = spec.key;
  query.cgroup = executor::FindRunCgroup(spec.key);
  if (facts.runner) query.not_before_ticks = facts.runner->process.start_ticks;
  query.marked = IsMarked(run.Folder().spec());
  executor::ProcessSet signaled;
  run::Proof proof = executor::EndTree(query, kEndLimitUs, &signaled);
  if (!query.cgroup.empty()) executor::RemoveCgroup(query.cgroup);
  executor::RemoveDeadCgroups(/*everywhere=*/true);
  return proof;
}

std::string Reason(const Facts& facts, bool rebooted, const run::Proof& proof) {
  if (rebooted) return "the machine was restarted while the run was going";
  if (!facts.runner) return "the runner was killed before it could start the script";
  if (proof.left > 0)
    return "the runner was killed; not all that was left of the run could be ended";
  if (proof.ended > 0) return "the runner was killed; what was left of the run was ended";
  return "the runner was killed; nothing was left of the run";
}

// Takes a request to stop that the runner has not recorded, because it was killed before.
void TakeCancelRequest(const std::string& path, Facts* facts) {
  const auto request = ReadCancelRequest(path);
  if (!request || facts->state == run::State::kCancelRequested) return;
  facts->state = run::State::kCancelRequested;
  facts->state_reason = request->reason;
}

run::End MakeEnd(const Facts& facts, bool rebooted, run::Proof proof) {
  run::End end;
  end.recovered = true;
  end.start_us = facts.script_us;
  end.rebooted = rebooted;
  end.reason = Reason(facts, rebooted, proof);
  end.state = run::State::kFailed;
  if (facts.state == run::State::kCancelRequested) {
    end.state = run::State::kCanceled;
    end.exit_code = kCanceledCode;
    if (!facts.state_reason.empty()) end.reason = facts.state_reason + "; " + end.reason;
  }
  end.proof = std::move(proof);
  return end;
}

// Returns why outputs have to be kept, and where. "": nothing is left to collect.
std::string TakeOutputs(const RunName& run, Executor& executor, const Facts& facts,
                        Recorder& recorder, SafeNames& names) {
  const run::RunFolder folder = run.Folder();
  if (facts.has_outputs) {
    return facts.outputs_left
               ? "not all outputs could be read; they are kept in " + folder.outputs()
               : "";
  }
  if (const auto kept = executor.FetchOutputs(recorder)) {
    return "the outputs could not be collected; they are kept in " + kept->where;
  }
  return CollectOutputs(run, recorder, names);
}

// Whether another process holds the segment. A supervisor that was killed while one of its threads
// waited for the disk looks dead, but keeps the lock until the disk has answered. Waits for that,
// kDyingUs at most.
Result<bool> IsAlive(const std::string& segment) {
  int64_t deadline = SystemClock().MonotonicUs() + kDyingUs;
  for (;;) {
    TENON_TRY(bool locked, IsLockedByOther(segment));
    if (!locked) return false;
    auto handle = ReadHandle(segment);
    bool dying = handle.ok() && *handle && (*handle)->process.start_ticks != 0 &&
                 CheckProcess((*handle)->process) == Liveness::kGone;
    if (!dying || SystemClock().MonotonicUs() >= deadline) return true;
    ::usleep(kLookUs);
  }
}

// Whether a process other than the runner writes a segment of the run.
bool OthersWrite(const run::RunFolder& folder) {
  for (const std::string& segment : journal::FarSegments(folder)) {
    if (segment == run::kHostSegment) continue;
    if (IsLockedByOther(folder.segment(segment)).value_or(false)) return true;
  }
  return false;
}

// Starts a new runner that follows a script which goes on by itself. If the script has ended, waits
// until the run's end is on record, kEndLimitUs at most.
Result<run::Recovered> FollowOn(const RunName& run, const run::RunSpec& spec,
                                const std::string& version) {
  const run::RunFolder folder = run.Folder();
  TENON_TRY_VOID(Adopt(run, spec, version));
  const int64_t deadline = SystemClock().MonotonicUs() + kEndLimitUs;
  for (;;) {
    TENON_TRY(Facts facts, ReadFacts(folder.host_segment()));
    if (facts.end) return run::Recovered{facts.state, true};
    if (OthersWrite(folder) || SystemClock().MonotonicUs() >= deadline) {
      return run::Recovered{facts.state, false};
    }
    ::usleep(kLookUs);
  }
}

// The spec as a client of this home has recorded it in its near segment.
std::optional<run::RunSpec> SubmittedHere(const std::string& segment) {
  auto reader = journal::Reader::Open(segment);
  if (!reader.ok()) return std::nullopt;
  for (;;) {
    auto record = reader->Next();
    if (!record.ok() || !*record) return std::nullopt;
    auto event = run::DecodeEvent((*record)->type, (*record)->payload);
    if (!event.ok() || !*event) continue;
    if (auto* submitted = std::get_if<run::Submitted>(&**event)) return std::move(submitted->spec);
  }
}

// Returns the run's spec. spec.json is on disk before anyone is told that the run has started, but
// a power cut before that may leave the segment and only a part of spec.json. The spec then comes
// from a near segment. If there is none, only the run's id and key are known.
Result<run::RunSpec> WhatWasAsked(const RunName& run) {
  const run::RunFolder folder = run.Folder();
  auto spec = ReadSpec(folder.spec());
  if (spec.ok() || spec.error().kind == ErrorKind::kUnavailable ||
      spec.error().kind == ErrorKind::kDenied) {
    return spec;
  }
  for (const std::string& name : ListDir(folder.path()).value_or({})) {
    if (!journal::IsNearSegment(name) || !name.ends_with(run::kSegmentSuffix)) continue;
    auto submitted = SubmittedHere(JoinPath(folder.path(), name));
    if (submitted && submitted->id == run.run_id) return std::move(*submitted);
  }
  auto reader = journal::Reader::Open(folder.host_segment());
  if (!reader.ok() || !reader->Next().ok() || !reader->run_key()) return spec;
  run::RunSpec known;
  known.id = run.run_id;
  known.key = *reader->run_key();
  // Its secrets are not known, so no name is believed to be free of them.
  known.secret_names = {"whatever it had"};
  return known;
}

// This version can't have started a kind of run that it does not know, so only processes may be
// left.
Result<std::unique_ptr<Executor>> ExecutorOf(const RunName& run, run::RunSpec spec,
                                             const Facts& facts) {
  StartRequest request;
  request.run = run;
  request.spec = std::move(spec);
  request.environment = CurrentEnvironment();
  auto executor = MakeExecutor(request, facts);
  if (executor.ok()) return executor;
  request.spec.executor = run::ExecutorKind::kProcess;
  return MakeExecutor(request, facts);
}

}  // namespace

Result<run::Recovered> Recover(const RunName& run, const std::string& version) {
  run::RunFolder folder = run.Folder();
  std::string segment = folder.host_segment();
  if (!Exists(segment)) return NotFound("run " + run.run_id + " has not started here");
  TENON_TRY(bool alive, IsAlive(segment));
  Facts before;
  if (!alive) {
    // Only a run without an end needs the lock, and with it the right to write.
    TENON_TRY(before, ReadFacts(segment));
    if (before.end) return run::Recovered{before.state, false};
  }
  TENON_TRY(run::RunSpec spec, WhatWasAsked(run));
  if (!Rebooted(before)) {
    TENON_TRY(const auto executor, ExecutorOf(run, spec, before));
    if (executor->OutlivesRunner()) return FollowOn(run, spec, version);
  }
  journal::Writer::Options options;
  options.path = segment;
  options.run_key = spec.key;
  options.segment = run::kHostSegment;
  options.reserve = true;
  Result<journal::Writer> writer = Unavailable("the run is alive");
  if (!alive) writer = journal::Writer::Open(options);
  if (!writer.ok()) {
    // The run is alive, or another process is recovering it. Any other failure is an Error.
    TENON_TRY(bool locked, IsLockedByOther(segment));
    if (!locked && !alive) return std::move(writer).error();
    TENON_TRY(Facts facts, ReadFacts(segment));
    return run::Recovered{facts.state, false};
  }
  TENON_TRY(Facts facts, ReadFacts(segment));
  if (facts.end) return run::Recovered{facts.state, false};
  TakeCancelRequest(folder.cancel_request(), &facts);

  const KnownSecrets secrets = SecretsOf(folder, spec);
  SafeNames names(secrets);
  Recorder recorder(std::move(*writer), ValuesOf(secrets.values), folder.runner_log());
  bool rebooted = Rebooted(facts);
  run::Proof proof;
  if (rebooted) {
    proof.method = "none";
    proof.remark = "the machine was restarted, so nothing of the run can be left";
    proof.gpu = executor::GpuRemark();
  } else {
    proof = EndWhatIsLeft(run, facts, spec);
  }
  TENON_TRY(const auto executor, ExecutorOf(run, spec, facts));
  bool complete = executor->FetchMetrics(recorder, names);
  const std::string left = TakeOutputs(run, *executor, facts, recorder, names);
  TellWithheld(run, names, recorder);
  complete = left.empty() && complete;
  run::End end = MakeEnd(facts, rebooted, std::move(proof));
  end.outputs_left = !left.empty();
  if (!left.empty()) end.reason += (end.reason.empty() ? "" : "; ") + left;
  run::State state = end.state;
  if (!recorder.AppendLast(std::move(end)))
    return Unavailable("the end of the run could not be recorded");
  TENON_TRY_VOID(recorder.writer().Sync());
  // Nobody needs any more what the run has left elsewhere.
  (void)executor->Release([](const run::Event&) {});
  (void)RemoveFile(folder.cancel_request()).ok();
  ForgetSecrets(folder, spec.key);
  if (complete) (void)run::RemoveMetrics(folder).ok();
  return run::Recovered{state, true};
}

}  // namespace tenon::runner
