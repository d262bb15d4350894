// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/supervisor.h"

#include <signal.h>
#include <string.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "journal/segments.h"
#include "run/script_folders.h"
#include "runner/supervise/collect.h"
#include "runner/supervise/prepare.h"
#include "runner/verbs/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kTickUs = 200'000;

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
                       std::unique_ptr<Executor> executor, const Clock& clock)
    : request_(std::move(request)),
      folder_(request_.run.Folder()),
      recorder_(recorder),
      syncer_(syncer),
      loop_(loop),
      executor_(std::move(executor)),
      clock_(clock),
      names_(SecretsOf(request_)) {
  script_ = std::make_unique<ScriptRun>(
      loop_, recorder_, syncer_, executor_->script(),
      std::min(request_.spec.grace_us, kLeftoverGraceUs),
      [this](const ScriptRun::Over& over) { OnScriptOver(over); }, clock_);
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
  if (facts.state == run::State::kCancelRequested) {
    stop_ = Stop::kCancel;
    stop_reason_ = facts.state_reason;
  }
  const int64_t script_us = executor_->Adopt();
  script_->Adopt(script_us);
  phase_ = Phase::kRunning;
  StartSamplers();
  if (stop_ == Stop::kCancel) script_->AskToStop(request_.spec.grace_us);
  if (request_.spec.timeout_us > 0) {
    int64_t elapsed = script_us == 0 ? 0 : clock_.NowUs() - script_us;
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
    script_->Look();  // no event may come, for example when an engine is gone
  }
  if (phase_ != Phase::kDone) loop_.AddTimer(kTickUs, [this] { Tick(); });
}

void Supervisor::Tell(run::Event event) {
  recorder_.Append(std::move(event));
  syncer_.MarkDirty();
}

void Supervisor::Notice(run::Level level, std::string text, std::string hint) {
  Tell(run::Notice{level, std::move(text), std::move(hint)});
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
    prepared_ = UnpackProject(request_, handover_);
    if (prepared_.ok()) {
      prepared_ = request_.spec.only_prepare
                      ? executor_->PrepareEnvironment(handover_, stop_preparing_)
                      : executor_->Prepare(handover_, stop_preparing_);
    }
    worker_done_ = true;
    handover_.Wake();
  });
}

void Supervisor::RecordHandedOver() {
  for (run::Event& event : handover_.TakeAll()) recorder_.Append(std::move(event));
  syncer_.MarkDirty();
}

void Supervisor::OnHandover() {
  RecordHandedOver();
  // Checked after RecordHandedOver() has emptied the descriptor: a worker that ends later makes it
  // readable again.
  if (!worker_done_) return;
  worker_.join();      // prepared_ may be read after this
  RecordHandedOver();  // what came in since the call above
  loop_.RemoveFd(handover_.fd());
  OnPrepared(prepared_);
}

void Supervisor::OnPrepared(const Status& prepared) {
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
  StartScript();
}

// After this the script runs, or the run has failed.
void Supervisor::StartScript() {
  const auto start = [this](const OpenStreams& open) {
    return executor_->Start(open, [this](run::Event event) { Tell(std::move(event)); });
  };
  const Status started = script_->Start(start, folder_.metrics());
  if (!started.ok()) {
    if (!started.error().hint.empty()) {
      Notice(run::Level::kError, started.error().message, started.error().hint);
    }
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, started.error().message);
  }
  phase_ = Phase::kRunning;
  StartSamplers();
  recorder_.AppendState(run::State::kRunning);
  syncer_.SyncNow([](const Status&) {});
  if (request_.spec.timeout_us > 0) {
    timeout_timer_ = loop_.AddTimer(request_.spec.timeout_us, [this] { OnTimeout(); });
  }
}

// A sampler that can't be started causes a notice; the script runs all the same.
void Supervisor::StartSamplers() {
  for (const Sampler& sampler : executor_->Samplers()) {
    auto started = Sampling::Start(sampler, folder_, request_.spec.key, request_.SecretValues(),
                                   loop_, clock_);
    if (!started.ok()) {
      Notice(run::Level::kWarning,
             "nothing is measured by " + sampler.name + ": " + started.error().message);
      continue;
    }
    executor_->script().LeaveOut((*started)->process());
    samplings_.push_back(std::move(*started));
  }
}

// ---- Asked to stop

void Supervisor::OnSignal(int signal) {
  switch (signal) {
    case SIGCHLD:
      // While preparing, child processes belong to the worker.
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
  // The verb `cancel` waits until this file is gone: then the request is recorded.
  (void)RemoveFile(folder_.cancel_request()).ok();
}

void Supervisor::RequestCancel(std::optional<int64_t> grace_us, const std::string& reason) {
  if (phase_ == Phase::kDone) return;
  bool too_late = script_->has_exited() && stop_ == Stop::kNo;  // the script ended before
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

// Returns why outputs have to be kept, and where. "": nothing is left to collect.
std::string Supervisor::TakeOutputs() {
  if (auto kept = executor_->FetchOutputs(recorder_)) {
    Notice(run::Level::kError, kept->why.message,
           "`tenon runs collect " + request_.spec.id + "` tries again");
    // The outputs that were copied may end in the middle of a file, so none are collected.
    return "the outputs could not be collected; they are kept in " + kept->where;
  }
  return CollectOutputs(request_.run, recorder_, names_);
}

void Supervisor::OnScriptOver(const ScriptRun::Over& over) {
  phase_ = Phase::kDone;
  loop_.RemoveTimer(timeout_timer_);
  samplings_.clear();
  bool complete = executor_->FetchMetrics(recorder_, names_) && over.metrics_complete;
  if (over.exit.leftovers > 0) {
    Notice(run::Level::kWarning, Count(static_cast<uint64_t>(over.exit.leftovers),
                                       "process was left by the script and was ended",
                                       "processes were left by the script and were ended"));
  }
  if (over.proof.left > 0 && !over.exit.kept) {
    Notice(run::Level::kError,
           Count(static_cast<uint64_t>(over.proof.left), "process", "processes") +
               " of the run could not be ended");
  }
  recorder_.AppendState(run::State::kFinalizing);
  const std::string left = TakeOutputs();
  TellWithheld(request_.run, names_, recorder_);
  complete = left.empty() && complete;
  // A container that is kept for a look uses the run's folders.
  complete = executor_->Release([this](run::Event event) { Tell(std::move(event)); }) && complete;
  const std::string changed = recorder_.CheckSegment();
  run::End end = MakeEnd(over);
  // The end says this too, because a full disk has room for the end but not for a notice.
  end.outputs_left = !left.empty();
  if (!left.empty()) end.reason += (end.reason.empty() ? "" : "; ") + left;
  if (!changed.empty()) end.reason += (end.reason.empty() ? "" : "; ") + changed;
  end.other_segments = CountOtherSegments();
  bool success = end.state == run::State::kCompleted;
  recorder_.AppendLast(std::move(end));
  CleanUp(success, !complete);
}

int64_t Supervisor::CountOtherSegments() const {
  const size_t all = journal::FarSegments(folder_).size();
  return static_cast<int64_t>(all > 0 ? all - 1 : 0);
}

run::End Supervisor::MakeEnd(const ScriptRun::Over& over) const {
  run::End end;
  end.signal = over.exit.status.signal;
  end.peak_rss_bytes = over.exit.peak_rss_bytes;
  end.start_us = over.exit.start_us;
  end.duration_us = over.exit.duration_us;
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
      if (over.exit.whole_peak_bytes > 0) {
        end.reason +=
            " (peak " + HumanBytes(static_cast<uint64_t>(over.exit.whole_peak_bytes)) + ")";
      }
    }
  }
  return end;
}

// The script was not started, but `setup` lines and tools were. Processes that they put into the
// background do not end with them.
run::Proof Supervisor::EndWhatPreparingLeft() {
  run::Proof proof = executor_->script().EndAll(/*thorough=*/true);
  // Without setup lines nothing was started that could hide.
  const std::string unseen = request_.spec.setup.empty() ? "" : std::move(proof.remark);
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
  (void)executor_->Release([this](run::Event event) { Tell(std::move(event)); });
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

void Supervisor::CleanUp(bool success, bool keep_files) {
  if (auto synced = recorder_.writer().Sync(); !synced.ok()) recorder_.Log(synced.error().message);
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
