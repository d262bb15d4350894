// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "executor/process_tree.h"
#include "executor/run_mark.h"
#include "journal/segments.h"
#include "run/script_folders.h"
#include "runner/collect.h"
#include "runner/container_run.h"
#include "runner/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kTickUs = 200'000;
constexpr int64_t kLostUs = 60'000'000;
constexpr int64_t kEndLimitUs = 10'000'000;

constexpr int kCanceledCode = 143;
constexpr int kTimeoutCode = 124;
constexpr int kNotStartedCode = 125;

}  // namespace

std::string SignalReason(int signal) {
  const char* name = ::strsignal(signal);
  std::string text = "killed by signal " + std::to_string(signal);
  return name == nullptr ? text : text + " (" + name + ")";
}

Supervisor::Supervisor(StartRequest request, Recorder& recorder, Syncer& syncer, PollLoop& loop,
                       std::unique_ptr<executor::Executor> executor, const Clock& clock)
    : request_(std::move(request)),
      folder_(request_.run.Folder()),
      recorder_(recorder),
      syncer_(syncer),
      loop_(loop),
      executor_(std::move(executor)),
      clock_(clock),
      names_(SecretsOf(request_)) {
  script_ = std::make_unique<ScriptRun>(
      loop_, recorder_, syncer_, *executor_, std::min(request_.spec.grace_us, kLeftoverGraceUs),
      [this](ScriptRun::Over over) { OnScriptOver(std::move(over)); }, clock_);
}

Supervisor::~Supervisor() {
  stop_preparing_ = true;
  if (worker_.joinable()) worker_.join();
}

void Supervisor::Run() {
  BeginPreparing();
  if (phase_ == Phase::kDone) return;
  Tick();
  loop_.Run();
}

void Supervisor::RunAdopted(const Facts& facts) {
  container_ = facts.container;
  if (facts.state == run::State::kCancelRequested) {
    stop_ = Stop::kCancel;
    stop_reason_ = facts.state_reason;
  }
  auto adopted = script_->Adopt(*container_, facts.script_us);
  if (!adopted.ok()) {
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, adopted.error().message);
  }
  phase_ = Phase::kRunning;
  if (stop_ == Stop::kCancel) script_->AskToStop(request_.spec.grace_us);
  if (request_.spec.timeout_us > 0) {
    int64_t elapsed = facts.script_us == 0 ? 0 : clock_.NowUs() - facts.script_us;
    int64_t left = std::max<int64_t>(0, request_.spec.timeout_us - std::max<int64_t>(0, elapsed));
    timeout_timer_ = loop_.AddTimer(left, [this] { OnTimeout(); });
  }
  Tick();
  if (phase_ != Phase::kDone) loop_.Run();
}

void Supervisor::Tick() {
  if (phase_ == Phase::kDone) return;
  LookForCancelRequest();
  if (phase_ == Phase::kRunning) {
    script_->Pump();
    if (executor_->has_own_init()) {
      LookForKeptContainer();
      script_->Look();  // an engine that went away is looked for again
      LookForLostContainer();
    }
  }
  if (phase_ != Phase::kDone) loop_.AddTimer(kTickUs, [this] { Tick(); });
}

void Supervisor::Notice(run::Level level, std::string text, std::string hint) {
  recorder_.Append(run::Notice{level, std::move(text), std::move(hint)});
  syncer_.MarkDirty();
}

// ---- Preparing

void Supervisor::BeginPreparing() {
  recorder_.AppendState(run::State::kPreparing);
  if (handover_.fd() < 0) {
    return FinishUnstarted(run::State::kFailed, kNotStartedCode,
                           "preparing the run: no event descriptor could be made");
  }
  loop_.AddFd(handover_.fd(), [this] { OnHandover(); });
  worker_ = std::thread([this] {
    prepared_ = Prepare(request_, handover_, stop_preparing_);
    worker_done_ = true;
    handover_.Wake();
  });
}

void Supervisor::RecordHandedOver() {
  for (run::Event& event : handover_.TakeAll()) {
    if (auto* made = std::get_if<run::ContainerMade>(&event)) container_ = *made;
    recorder_.Append(std::move(event));
  }
  syncer_.MarkDirty();
}

void Supervisor::OnHandover() {
  RecordHandedOver();
  // Looked at after the descriptor was emptied: whoever is done later wakes us again.
  if (!worker_done_) return;
  worker_.join();      // hands prepared_ over
  RecordHandedOver();  // what came between the two looks
  loop_.RemoveFd(handover_.fd());
  Result<Prepared> prepared = std::move(*prepared_);
  prepared_.reset();
  OnPrepared(std::move(prepared));
}

void Supervisor::OnPrepared(Result<Prepared> prepared) {
  LookForCancelRequest();
  if (stop_ == Stop::kCancel) {
    return FinishUnstarted(run::State::kCanceled, kCanceledCode, stop_reason_);
  }
  if (!prepared.ok()) {
    if (!prepared.error().hint.empty()) {
      Notice(run::Level::kError, prepared.error().message, prepared.error().hint);
    }
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, prepared.error().message,
                           prepared.error().reason);
  }
  if (request_.spec.only_prepare) return FinishUnstarted(run::State::kCompleted, 0, "");
  StartScript(std::move(*prepared));
}

// After this the script runs, or the run has failed.
void Supervisor::StartScript(Prepared prepared) {
  executor::ExecRequest exec;
  exec.argv = std::move(prepared.argv);
  exec.cwd = folder_.work();
  exec.env = std::move(prepared.env);
  exec.run_key = request_.spec.key;
  if (container_) exec.container = *container_;
  exec.input = std::move(prepared.input);
  exec.segment = folder_.script_segment();
  exec.door = folder_.container() + "/door";
  if (prepared.remake) {
    exec.remake = [this, remake = std::move(prepared.remake)](const Error& refused) {
      auto again = remake(refused);
      RecordHandedOver();
      return again;
    };
  }
  auto started = script_->Start(std::move(exec), folder_.metrics());
  if (!started.ok()) {
    if (!started.error().hint.empty()) {
      Notice(run::Level::kError, started.error().message, started.error().hint);
    }
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, started.error().message);
  }
  phase_ = Phase::kRunning;
  recorder_.AppendState(run::State::kRunning);
  syncer_.SyncNow([](const Status&) {});
  if (request_.spec.timeout_us > 0) {
    timeout_timer_ = loop_.AddTimer(request_.spec.timeout_us, [this] { OnTimeout(); });
  }
}

// ---- Asked to stop

void Supervisor::OnSignal(int signal) {
  switch (signal) {
    case SIGCHLD:
      // While preparing, children are the worker's.
      if (phase_ == Phase::kRunning) script_->Look();
      break;
    case SIGUSR1:
      LookForCancelRequest();
      break;
    case SIGUSR2:
      RequestCancel(std::nullopt, "canceled");
      break;
    case SIGTERM:
    case SIGINT:
      RequestCancel(std::nullopt, std::string("the runner was asked to stop (SIG") +
                                      (signal == SIGTERM ? "TERM)" : "INT)"));
      break;
    default:
      break;
  }
}

void Supervisor::LookForCancelRequest() {
  if (phase_ == Phase::kDone) return;
  const auto left = ReadCancelRequest(folder_.cancel_request());
  if (!left) return;
  RequestCancel(left->grace_us, left->reason);
  // Who asked waits for this: it says that the request is recorded.
  (void)RemoveFile(folder_.cancel_request()).ok();
}

void Supervisor::RequestCancel(std::optional<int64_t> grace_us, const std::string& reason) {
  if (phase_ == Phase::kDone) return;
  bool too_late = script_->has_exited() && stop_ == Stop::kNo;  // the script was faster
  if (stop_ != Stop::kCancel && !too_late) {
    recorder_.AppendState(run::State::kCancelRequested, reason);
    syncer_.SyncNow([](const Status&) {});
    stop_ = Stop::kCancel;
    stop_reason_ = reason;
  }
  stop_preparing_ = true;
  if (phase_ == Phase::kRunning) script_->AskToStop(grace_us.value_or(request_.spec.grace_us));
}

void Supervisor::OnTimeout() {
  if (phase_ != Phase::kRunning || script_->has_exited() || stop_ != Stop::kNo) return;
  stop_ = Stop::kTimeout;
  stop_reason_ = "timed out after " + HumanDuration(request_.spec.timeout_us);
  script_->AskToStop(request_.spec.grace_us);
}

// ---- The end

// A container that is kept for looking at does not end with its script.
void Supervisor::LookForKeptContainer() {
  if (!request_.spec.keep_on_fail || stop_ != Stop::kNo) return;
  auto locked = IsLockedByOther(folder_.script_segment());
  if (!locked.ok() || *locked) return;
  auto facts = ReadFacts(folder_.script_segment());
  if (!facts.ok() || !facts->script_ended) return;
  if (facts->script_ended->exit_code == 0 && facts->script_ended->signal == 0) return;
  kept_container_ = true;
  ScriptRun::Over over;
  over.proof.method = "container";
  over.proof.remark = "the container is kept";
  over.proof.left = 1;
  over.proof.gpu = executor::GpuRemark();
  OnScriptOver(std::move(over));
}

// An engine that never comes back can't tell that its container has ended; the init's lock can.
void Supervisor::LookForLostContainer() {
  if (phase_ != Phase::kRunning || executor_->event_fd() >= 0 || script_->has_exited() ||
      IsLockedByOther(folder_.script_segment()).value_or(true)) {
    lost_since_us_ = 0;
    return;
  }
  const int64_t now = clock_.MonotonicUs();
  if (lost_since_us_ == 0) lost_since_us_ = now;
  if (now - lost_since_us_ < kLostUs) return;
  ScriptRun::Over over;
  over.exit.status = {0, SIGKILL};
  over.exit.remark = "the container is gone, and the engine does not answer";
  over.proof.method = "container";
  over.proof.remark = "its init is gone; the engine could not be asked";
  over.proof.gpu = executor::GpuRemark();
  OnScriptOver(std::move(over));
}

bool Supervisor::TakeInitsWord(ScriptRun::Over* over) {
  auto facts = ReadFacts(folder_.script_segment());
  if (!facts.ok()) return false;
  // What an init that was killed has not taken is ours to take.
  bool complete = TakeMetricsAfter(folder_, facts->metrics, recorder_, names_);
  if (facts->script_us != 0) over->start_wall_us = facts->script_us;
  if (facts->script_ended) {
    const run::ScriptEnded& ended = *facts->script_ended;
    over->exit.status = {ended.exit_code, ended.signal};
    over->exit.out_of_memory = over->exit.out_of_memory || ended.out_of_memory;
    over->exit.peak_rss_bytes = ended.peak_rss_bytes;
    over->exit.remark = ended.problem;
    over->start_wall_us = ended.start_us;
    over->duration_us = ended.duration_us;
    over->leftovers = ended.leftovers;
  }
  return complete;
}

// Why outputs have to be kept, and where; "": all are collected.
std::string Supervisor::TakeOutputs() {
  if (container_ && !request_.spec.container.shared_volumes) {
    if (auto copied = CopyOutputs(*container_, folder_, recorder_); !copied.ok()) {
      outputs_inside_ = true;
      Notice(run::Level::kError, copied.error().message,
             "`tenon runs collect " + request_.spec.id + "` tries again");
      // What came of them may end in the middle of a file.
      return "the outputs could not be collected; they are kept in the container " +
             container_->name;
    }
  }
  return CollectOutputs(request_.run, recorder_, names_);
}

void Supervisor::OnScriptOver(ScriptRun::Over over) {
  phase_ = Phase::kDone;
  loop_.RemoveTimer(timeout_timer_);
  bool complete = over.metrics_complete;
  if (executor_->has_own_init()) complete = TakeInitsWord(&over) && complete;
  if (over.leftovers > 0) {
    Notice(run::Level::kWarning, Count(static_cast<uint64_t>(over.leftovers),
                                       "process was left by the script and was ended",
                                       "processes were left by the script and were ended"));
  }
  if (over.proof.left > 0 && !kept_container_) {
    Notice(run::Level::kError,
           Count(static_cast<uint64_t>(over.proof.left), "process", "processes") +
               " of the run could not be ended");
  }
  recorder_.AppendState(run::State::kFinalizing);
  const std::string left = TakeOutputs();
  TellWithheld(request_.run, names_, recorder_);
  complete = left.empty() && complete;
  if (kept_container_) {
    Notice(run::Level::kInfo, "the container " + container_->name + " is kept",
           "`tenon exec " + request_.spec.id + " -- COMMAND` and `tenon shell " + request_.spec.id +
               "` enter it; `tenon experiment clean -t " + request_.spec.target + "` removes it");
  } else if (!outputs_inside_) {
    ReleaseContainer();
  }
  const std::string changed = recorder_.CheckSegment();
  run::End end = MakeEnd(over);
  // There is always room for the end, on a full disk not for a notice.
  end.outputs_left = !left.empty();
  if (!left.empty()) end.reason += (end.reason.empty() ? "" : "; ") + left;
  if (!changed.empty()) end.reason += (end.reason.empty() ? "" : "; ") + changed;
  end.other_segments = CountOtherSegments();
  bool success = end.state == run::State::kCompleted;
  recorder_.AppendLast(std::move(end));
  CleanUp(success, !complete || kept_container_);
}

int64_t Supervisor::CountOtherSegments() const {
  const size_t all = journal::FarSegments(folder_).size();
  return static_cast<int64_t>(all > 0 ? all - 1 : 0);
}

run::End Supervisor::MakeEnd(const ScriptRun::Over& over) const {
  run::End end;
  end.signal = over.exit.status.signal;
  end.peak_rss_bytes = over.exit.peak_rss_bytes;
  end.start_us = over.start_wall_us;
  end.duration_us = over.duration_us;
  end.proof = over.proof;
  end.reason = stop_reason_;
  if (stop_ == Stop::kCancel) {
    end.state = run::State::kCanceled;
    end.exit_code = kCanceledCode;
  } else if (stop_ == Stop::kTimeout) {
    end.state = run::State::kFailed;
    end.exit_code = kTimeoutCode;
  } else {
    end.exit_code = over.exit.status.AsShell();
    end.state = *end.exit_code == 0 ? run::State::kCompleted : run::State::kFailed;
    if (end.signal != 0) end.reason = SignalReason(end.signal);
    if (!over.exit.remark.empty()) end.reason = over.exit.remark;
    if (end.state == run::State::kFailed && over.exit.out_of_memory) {
      end.reason += std::string(end.reason.empty() ? "" : ": ") + "out of memory";
      if (end.peak_rss_bytes > 0 && executor_->has_own_init()) {
        end.reason += " (peak " + HumanBytes(static_cast<uint64_t>(end.peak_rss_bytes)) + ")";
      }
    }
  }
  return end;
}

// A script was not started, but `setup` lines and tools were, and what they have put into the
// background does not end with them.
run::Proof Supervisor::EndWhatPreparingLeft() {
  run::Proof proof;
  std::string unseen;
  if (!executor_->has_own_init()) {
    executor::TreeQuery query;
    query.run_key = request_.spec.key;
    query.supervisor = ::getpid();
    query.marked = executor::HasRunMark(query.run_key);
    if (const auto us = IdentifyProcess(query.supervisor)) query.not_before_ticks = us->start_ticks;
    executor::ProcessSet signaled;
    proof = executor::EndTree(query, kEndLimitUs, &signaled);
    if (!request_.spec.setup.empty()) unseen = std::move(proof.remark);
  }
  if (proof.ended + proof.left == 0) {
    proof = {};
    proof.method = "none";
  }
  proof.remark = "the script was not started" + (unseen.empty() ? "" : "; " + unseen);
  if (proof.ended > 0) {
    Notice(run::Level::kWarning,
           Count(static_cast<uint64_t>(proof.ended),
                 "process started by the preparation was still running; it was ended",
                 "processes started by the preparation were still running; they were ended"));
  }
  return proof;
}

void Supervisor::FinishUnstarted(run::State state, int exit_code, std::string reason,
                                 std::string cause) {
  phase_ = Phase::kDone;
  ReleaseContainer();
  run::End end;
  end.state = state;
  end.exit_code = exit_code;
  end.reason = std::move(reason);
  end.cause = std::move(cause);
  end.proof = EndWhatPreparingLeft();
  end.other_segments = CountOtherSegments();
  recorder_.AppendLast(std::move(end));
  CleanUp(request_.spec.only_prepare, false);
}

void Supervisor::ReleaseContainer() {
  if (!container_) return;
  if (auto gone = executor_->Release(*container_); !gone.ok()) {
    // The mark stays: `sweep` and the end of another run look again.
    return Notice(
        run::Level::kWarning,
        "the container " + container_->name + " could not be removed: " + gone.error().message,
        "tenon gc");
  }
  (void)RemoveFile(folder_.engine_mark()).ok();
}

void Supervisor::CleanUp(bool success, bool keep_files) {
  if (auto synced = recorder_.writer().Sync(); !synced.ok()) recorder_.Log(synced.error().message);
  // An init that was killed has not given it back.
  if (executor_->has_own_init() && !IsLockedByOther(folder_.script_segment()).value_or(true)) {
    journal::GiveBackReserve(folder_.script_segment());
  }
  ForgetSecrets(folder_, request_.spec.key);
  if (!keep_files) {
    (void)run::RemoveMetrics(folder_).ok();
    (void)RemoveTree(folder_.container()).ok();
  }
  if (success && !keep_files && !request_.spec.keep) {
    auto removed = run::RemoveWork(folder_);
    if (!removed.ok()) recorder_.Log("removing the working directory: " + removed.error().message);
  }
  loop_.Stop();
}

}  // namespace tenon::runner
