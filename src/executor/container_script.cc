// SPDX-License-Identifier: Apache-2.0
#include "executor/container_script.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "executor/process_tree.h"
#include "executor/segment_door.h"
#include "executor/sized_text.h"

namespace tenon::executor {
namespace {

constexpr int64_t kLookAgainUs = 1'000'000;
constexpr int64_t kLostUs = 60'000'000;
constexpr int64_t kEndLimitUs = 15'000'000;
constexpr useconds_t kLookUs = 20'000;
constexpr int kGiveLimitMs = 60'000;
constexpr int kSignalBase = 128;
constexpr int kNotStartedCode = 125;

// The engine reports a signal as the shell does: 128 + its number.
ExitStatus StatusOf(int code) {
  if (code > kSignalBase && code < kSignalBase + 65) return {0, code - kSignalBase};
  return {code, 0};
}

}  // namespace

Result<docker::Engine*> ContainerScript::Engine() {
  if (!engine_) {
    TENON_TRY(docker::Engine engine, docker::Engine::Connect(made_.socket));
    engine_.emplace(std::move(engine));
  }
  return &*engine_;
}

Status ContainerScript::StartOnce(const ContainerRequest& request) {
  TENON_TRY(docker::Engine * engine, Engine());
  TENON_TRY(SegmentDoor door, SegmentDoor::Open(request.door));
  TENON_TRY(stream_, engine->Attach(made_.id, /*with_stdin=*/true));
  TENON_TRY_VOID(engine->Start(made_.id));
  auto told = WriteSized(stream_.fd.get(), request.input);
  if (!told.ok()) return std::move(told).error().Wrap("telling the container what to run");
  // An init that does not take the segment is about to end. Watch() finds that end like any other.
  TENON_TRY_VOID(door.Give(request.segment, stream_.fd.get(), kGiveLimitMs));
  return {};
}

Status ContainerScript::Start(const ContainerRequest& request) {
  made_ = request.container;
  auto started = StartOnce(request);
  while (!started.ok() && request.remake) {
    Error refused = std::move(started).error();
    TENON_TRY(auto again, request.remake(refused));
    if (!again) return std::move(refused).Wrap("starting the container " + made_.name);
    made_ = std::move(*again);
    started = StartOnce(request);
  }
  if (!started.ok()) {
    return std::move(started).error().Wrap("starting the container " + made_.name);
  }
  Watch();
  return {};
}

void ContainerScript::Adopt(const run::ContainerMade& container) {
  made_ = container;
  Watch();
}

void ContainerScript::Watch() {
  waiting_.reset();
  look_again_us_ = clock_.MonotonicUs() + kLookAgainUs;
  auto engine = Engine();
  if (!engine.ok()) {
    engine_.reset();
    return;
  }
  auto found = (*engine)->Find(made_.id);
  if (!found.ok()) {
    engine_.reset();
    return;
  }
  if (!*found || !(*found)->running) return NoteEnd(*found);
  if (auto waiting = (*engine)->Wait(made_.id); waiting.ok()) waiting_ = std::move(*waiting);
}

void ContainerScript::NoteEnd(const std::optional<docker::Container>& container) {
  if (exit_ || told_) return;
  exit_.emplace();
  if (!container) {
    exit_->status = {0, SIGKILL};
    exit_->remark = "the container was removed by someone else";
    return;
  }
  if (container->status == "created") {
    exit_->status = {kNotStartedCode, 0};
    exit_->remark = "the runner was killed before it could start the script";
    return;
  }
  exit_->status = StatusOf(container->exit_code);
  exit_->out_of_memory = container->out_of_memory;
  if (we_killed_) return;
  if (!container->error.empty()) {
    exit_->remark = "the container ended: " + ForTerminal(container->error);
  } else if (container->exit_code == kNotStartedCode) {
    exit_->remark = "the container's init could not start the script" + LastWords();
  } else if (exit_->status.AsShell() != 0 && !container->out_of_memory) {
    exit_->remark = "the container was ended from outside (exit code " +
                    std::to_string(container->exit_code) +
                    "): by someone, or by an engine that was restarted";
  }
}

// What the init has written to its standard streams. It writes there only if it could not open its
// segment.
std::string ContainerScript::LastWords() {
  if (!stream_.fd.valid()) return "";
  std::string words;
  docker::FrameDecoder frames([&](int, std::string_view bytes) { words += bytes; });
  (void)frames.Feed(stream_.buffered).ok();
  char piece[4096];
  for (;;) {
    ssize_t count = ::recv(stream_.fd.get(), piece, sizeof piece, MSG_DONTWAIT);
    if (count <= 0) break;
    (void)frames.Feed(std::string_view(piece, static_cast<size_t>(count))).ok();
  }
  const std::string_view text = Trim(words);
  return text.empty() ? "" : ": " + ForTerminal(text.substr(0, 1000));
}

// Notes the end of a failed script whose container is kept: that container does not end with its
// script.
void ContainerScript::NoteKept() {
  if (!init_.IsGone()) return;
  const auto ended = init_.Read().ended;
  if (!ended || (ended->exit_code == 0 && ended->signal == 0)) return;
  kept_ = true;
  exit_.emplace();
  exit_->kept = true;
}

// Notes the end of a container whose engine never comes back: the engine can't tell that the
// container has ended, but the init is gone.
void ContainerScript::NoteLost() {
  if (waiting_ || !init_.IsGone()) {
    lost_since_us_ = 0;
    return;
  }
  const int64_t now = clock_.MonotonicUs();
  if (lost_since_us_ == 0) lost_since_us_ = now;
  if (now - lost_since_us_ < kLostUs) return;
  lost_ = true;
  exit_.emplace();
  exit_->status = {0, SIGKILL};
  exit_->remark = "the container is gone, and the engine does not answer";
}

// Takes over what the init has recorded, since the init knows more than the engine.
void ContainerScript::TakeInitsWord() {
  const Init::Word word = init_.Read();
  exit_->start_us = word.start_us;
  if (!word.ended) return;
  exit_->told = true;
  const run::ScriptEnded& ended = *word.ended;
  exit_->status = {ended.exit_code, ended.signal};
  exit_->out_of_memory = exit_->out_of_memory || ended.out_of_memory;
  exit_->peak_rss_bytes = exit_->whole_peak_bytes = ended.peak_rss_bytes;
  exit_->remark = ended.problem;
  exit_->start_us = ended.start_us;
  exit_->duration_us = ended.duration_us;
  exit_->leftovers = ended.leftovers;
}

void ContainerScript::AskEngine() {
  if (waiting_) {
    auto code = waiting_->Poll();
    if (code.ok() && !*code) return;
    Watch();  // the container has ended, or the engine: ask the engine itself
  } else if (clock_.MonotonicUs() >= look_again_us_) {
    Watch();
  }
}

std::optional<Exit> ContainerScript::Reap() {
  if (told_ || made_.id.empty()) return std::nullopt;
  if (!exit_) AskEngine();
  if (!exit_ && keep_on_fail_ && !asked_) NoteKept();
  if (!exit_) NoteLost();
  if (!exit_) return std::nullopt;
  TakeInitsWord();
  told_ = true;
  waiting_.reset();
  return exit_;
}

void ContainerScript::Signal(int signal) {
  asked_ = true;
  auto engine = Engine();
  if (!engine.ok()) return;
  we_killed_ = we_killed_ || signal == SIGKILL;
  (void)(*engine)->Kill(made_.id, signal).ok();
}

run::Proof ContainerScript::EndAll(bool /*thorough*/) {
  asked_ = true;
  run::Proof proof;
  proof.method = "container";
  proof.gpu = GpuRemark();
  if (made_.id.empty()) return proof;
  if (kept_) {
    proof.left = 1;
    proof.remark = "the container is kept";
    return proof;
  }
  if (lost_) {
    proof.remark = "its init is gone; the engine could not be asked";
    return proof;
  }
  const int64_t deadline = clock_.MonotonicUs() + kEndLimitUs;
  for (bool first = true;; first = false) {
    auto engine = Engine();
    Result<std::optional<docker::Container>> found = Unavailable("");
    if (engine.ok()) {
      found = (*engine)->Find(made_.id);
    } else {
      found = engine.error();
    }
    if (found.ok() && (!*found || !(*found)->running)) return proof;
    if (found.ok() && first) {
      we_killed_ = true;
      proof.ended = 1;
      (void)(*engine)->Kill(made_.id, SIGKILL).ok();
    }
    if (!found.ok()) engine_.reset();
    if (clock_.MonotonicUs() >= deadline) {
      proof.left = 1;
      proof.remark = found.ok() ? "the engine has not ended the container in time"
                                : "the engine could not be asked: " + found.error().message;
      return proof;
    }
    ::usleep(kLookUs);
  }
}

Status ContainerScript::Remove(const run::ContainerMade& container) {
  waiting_.reset();
  stream_.fd.Reset();
  made_ = container;
  TENON_TRY(docker::Engine * engine, Engine());
  TENON_TRY_VOID(engine->Remove(made_.id));
  made_ = {};
  return {};
}

}  // namespace tenon::executor
