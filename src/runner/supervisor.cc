// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.h"

#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "runner/collect.h"

namespace tenon::runner {
namespace {

constexpr int64_t kTickUs = 200'000;
// What the script's helpers get to go by themselves before we call them left behind.
constexpr int64_t kSettleUs = 250'000;
// Between asking processes that were left behind and killing them.
constexpr int64_t kLeftoverGraceUs = 5'000'000;
constexpr int64_t kRetryKillUs = 5'000'000;
constexpr int64_t kFirstLookUs = 2'000;
constexpr int64_t kLookUs = 50'000;

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
      clock_(clock) {}

Supervisor::~Supervisor() {
  if (worker_.joinable()) worker_.join();
}

void Supervisor::Run() {
  BeginPreparing();
  if (phase_ != Phase::kDone) {
    Tick();
    loop_.Run();
  }
  // A loop that went on for its other work is of no use to us any more.
  capture_.reset();
}

void Supervisor::Tick() {
  if (phase_ == Phase::kDone) return;
  LookForCancelRequest();
  if (metrics_ && phase_ != Phase::kDone) metrics_->Pump();
  loop_.AddTimer(kTickUs, [this] { Tick(); });
}

void Supervisor::Notice(run::Level level, std::string text, std::string hint) {
  recorder_.Append(run::Notice{level, std::move(text), std::move(hint)});
  syncer_.MarkDirty();
}

// ---- Preparing

void Supervisor::BeginPreparing() {
  recorder_.AppendState(run::State::kPreparing);
  worker_done_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!worker_done_.valid()) {
    return FinishUnstarted(run::State::kFailed, kNotStartedCode,
                           FromErrno("preparing the run", errno).message);
  }
  loop_.AddFd(worker_done_.get(), [this] { OnPrepared(); });
  worker_ = std::thread([this] {
    prepared_ = Prepare(request_);
    uint64_t word = 1;
    ssize_t ignored = ::write(worker_done_.get(), &word, sizeof word);
    (void)ignored;
  });
}

void Supervisor::OnPrepared() {
  worker_.join();  // hands prepared_ over
  loop_.RemoveFd(worker_done_.get());
  worker_done_.Reset();
  Result<Prepared> prepared = std::move(*prepared_);
  prepared_.reset();
  if (prepared.ok()) {
    for (run::Step& step : prepared->steps) recorder_.Append(std::move(step));
    for (run::Notice& notice : prepared->notices) recorder_.Append(std::move(notice));
  }
  LookForCancelRequest();
  if (stop_ == Stop::kCancel) {
    return FinishUnstarted(run::State::kCanceled, kCanceledCode, stop_reason_);
  }
  if (!prepared.ok()) {
    if (!prepared.error().hint.empty()) {
      Notice(run::Level::kError, prepared.error().message, prepared.error().hint);
    }
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, prepared.error().message);
  }
  StartScript(std::move(*prepared));
}

// After this the script runs, or the run has failed.
void Supervisor::StartScript(Prepared prepared) {
  auto metrics = MetricPump::Open(folder_.metrics(), loop_, recorder_, syncer_);
  if (metrics.ok()) {
    metrics_ = std::move(*metrics);
  } else {
    Notice(run::Level::kWarning, "metrics will not be recorded: " + metrics.error().message);
  }
  auto capture = Capture::Open(loop_, [this](run::Stream stream, std::string_view bytes) {
    recorder_.AppendOutput(stream, bytes);
    syncer_.MarkDirty();
  });
  if (!capture.ok()) {
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, capture.error().message);
  }
  capture_ = std::move(*capture);
  executor::ExecRequest exec;
  exec.argv = prepared.argv;
  exec.cwd = folder_.work();
  exec.env = std::move(prepared.env);
  exec.stdout_fd = capture_->stdout_fd();
  exec.stderr_fd = capture_->stderr_fd();
  exec.run_key = request_.spec.key;
  script_start_wall_us_ = clock_.NowUs();
  script_start_us_ = Now();
  auto pid = executor_->Start(exec);
  capture_->CloseChildEnds();
  if (!pid.ok()) {
    return FinishUnstarted(run::State::kFailed, kNotStartedCode, pid.error().message);
  }
  phase_ = Phase::kRunning;
  run::ScriptStarted started;
  started.process = IdentifyProcess(*pid).value_or(ProcessId{*pid, 0, BootId()});
  started.argv = std::move(exec.argv);
  recorder_.Append(std::move(started));
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
      if (auto exit = executor_->Reap()) {
        OnScriptExit(*exit);
      } else if (phase_ == Phase::kEnding) {
        LookWhoIsLeft();
      }
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
  auto text = ReadFile(folder_.cancel_request(), 65536);
  if (!text.ok()) return;
  json::Object object;
  if (auto value = json::Parse(*text); value.ok() && value->is_object()) {
    object = value->get_object();
  }
  std::optional<int64_t> grace_us;
  if (int64_t grace = json::GetInt(object, "grace_us", -1); grace >= 0) grace_us = grace;
  std::string who = json::DecodeBytes(json::GetString(object, "who"));
  RequestCancel(grace_us, who.empty() ? "canceled" : "canceled by " + who);
  // Who asked waits for this: it says that the request is recorded.
  (void)RemoveFile(folder_.cancel_request()).ok();
}

void Supervisor::RequestCancel(std::optional<int64_t> grace_us, const std::string& reason) {
  if (phase_ == Phase::kDone) return;
  bool too_late = phase_ == Phase::kEnding && stop_ == Stop::kNo;  // the script was faster
  if (stop_ != Stop::kCancel && !too_late) {
    recorder_.AppendState(run::State::kCancelRequested, reason);
    syncer_.SyncNow([](const Status&) {});
    stop_ = Stop::kCancel;
    stop_reason_ = reason;
  }
  if (phase_ != Phase::kPreparing) AskToStop(grace_us.value_or(request_.spec.grace_us));
}

void Supervisor::OnTimeout() {
  if (phase_ != Phase::kRunning || stop_ != Stop::kNo) return;
  stop_ = Stop::kTimeout;
  stop_reason_ = "timed out after " + HumanDuration(request_.spec.timeout_us);
  AskToStop(request_.spec.grace_us);
}

// Repeated: no second SIGTERM, but the grace may become shorter.
void Supervisor::AskToStop(int64_t grace_us) {
  int64_t kill_at = Now() + grace_us;
  if (!kill_at_us_ && grace_us > 0) executor_->Signal(SIGTERM);
  if (kill_at_us_ && *kill_at_us_ <= kill_at) return;
  kill_at_us_ = kill_at;
  loop_.RemoveTimer(grace_timer_);
  grace_timer_ = loop_.AddTimer(grace_us, [this] { OnGraceOver(); });
}

void Supervisor::OnGraceOver() {
  if (phase_ == Phase::kRunning) {
    run::Proof proof = executor_->EndAll(/*thorough=*/false);
    // The script's own end comes as SIGCHLD, and its output is still to be read. One that hangs in
    // the kernel may take another try, and another.
    if (proof.left > 0) grace_timer_ = loop_.AddTimer(kRetryKillUs, [this] { OnGraceOver(); });
  } else if (phase_ == Phase::kEnding) {
    Finish();
  }
}

// ---- The end

void Supervisor::OnScriptExit(const executor::Exit& exit) {
  if (phase_ != Phase::kRunning) return;
  exit_ = exit;
  script_end_us_ = Now();
  phase_ = Phase::kEnding;
  loop_.RemoveTimer(timeout_timer_);
  capture_->Drain();
  look_pause_us_ = kFirstLookUs;
  LookWhoIsLeft();
}

void Supervisor::LookWhoIsLeft() {
  if (phase_ != Phase::kEnding) return;
  loop_.RemoveTimer(look_timer_);
  (void)executor_->Reap();
  int64_t left = executor_->CountLeft();
  if (left == 0) return Finish();
  if (!asked_leftovers_ && Now() - script_end_us_ >= kSettleUs) {
    asked_leftovers_ = true;
    if (stop_ == Stop::kNo) {
      leftovers_ = left;
      AskToStop(std::min(request_.spec.grace_us, kLeftoverGraceUs));
    }
  }
  look_timer_ = loop_.AddTimer(look_pause_us_, [this] { LookWhoIsLeft(); });
  look_pause_us_ = std::min(look_pause_us_ * 2, kLookUs);
}

void Supervisor::Finish() {
  phase_ = Phase::kDone;
  bool forced = stop_ != Stop::kNo || leftovers_ > 0;
  run::Proof proof = executor_->EndAll(/*thorough=*/forced);
  (void)executor_->Reap();
  capture_->Drain();
  recorder_.FlushOutput(run::Stream::kStdout);
  recorder_.FlushOutput(run::Stream::kStderr);
  if (leftovers_ > 0) {
    Notice(run::Level::kWarning,
           Count(static_cast<uint64_t>(leftovers_), "process was left by the script and was ended",
                 "processes were left by the script and were ended"));
  }
  if (proof.left > 0) {
    Notice(run::Level::kError, Count(static_cast<uint64_t>(proof.left), "process", "processes") +
                                   " of the run could not be ended");
  }
  bool complete = !metrics_ || metrics_->Finish();
  recorder_.AppendState(run::State::kFinalizing);
  complete = CollectOutputs(request_.run, recorder_) && complete;
  run::End end = MakeEnd(std::move(proof));
  bool success = end.state == run::State::kCompleted;
  recorder_.AppendEnd(std::move(end));
  CleanUp(success, !complete);
}

run::End Supervisor::MakeEnd(run::Proof proof) const {
  run::End end;
  end.signal = exit_->status.signal;
  end.peak_rss_bytes = exit_->peak_rss_bytes;
  end.start_us = script_start_wall_us_;
  end.duration_us = script_end_us_ - script_start_us_;
  end.proof = std::move(proof);
  end.reason = stop_reason_;
  if (stop_ == Stop::kCancel) {
    end.state = run::State::kCanceled;
    end.exit_code = kCanceledCode;
  } else if (stop_ == Stop::kTimeout) {
    end.state = run::State::kFailed;
    end.exit_code = kTimeoutCode;
  } else {
    end.exit_code = exit_->status.AsShell();
    end.state = *end.exit_code == 0 ? run::State::kCompleted : run::State::kFailed;
    if (end.signal != 0) end.reason = SignalReason(end.signal);
    if (end.signal != 0 && exit_->out_of_memory) end.reason += ": out of memory";
  }
  return end;
}

void Supervisor::FinishUnstarted(run::State state, int exit_code, std::string reason) {
  phase_ = Phase::kDone;
  run::End end;
  end.state = state;
  end.exit_code = exit_code;
  end.reason = std::move(reason);
  end.proof.emplace();
  end.proof->method = "none";
  end.proof->remark = "the script was not started";
  end.proof->gpu = "";
  recorder_.AppendEnd(std::move(end));
  CleanUp(false, false);
}

void Supervisor::CleanUp(bool success, bool keep_files) {
  if (auto synced = recorder_.writer().Sync(); !synced.ok()) recorder_.Log(synced.error().message);
  metrics_.reset();
  if (!keep_files) (void)RemoveTree(folder_.metrics()).ok();
  if (success && !keep_files && !request_.spec.keep) {
    auto removed = RemoveTree(folder_.work());
    if (!removed.ok()) recorder_.Log("removing the working directory: " + removed.error().message);
  }
  loop_.Stop();
}

}  // namespace tenon::runner
