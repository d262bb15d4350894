// SPDX-License-Identifier: Apache-2.0
#include "runner/container/container_executor.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "docker/engine_address.h"
#include "docker/tar.h"
#include "executor/container_config.h"
#include "journal/writer.h"
#include "run/verbs.h"
#include "runner/container/enter_container.h"
#include "runner/supervise/collect.h"
#include "runner/verbs/verb_sweep.h"

namespace tenon::runner {
namespace {

// By its name if the reader of messages sits at another machine.
std::string MachineWords(const run::RunSpec& spec) {
  if (!spec.IsElsewhere()) return gpu::HostFacts().machine;
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') {
    return "the machine of target " + spec.target;
  }
  return std::string(name) + " (target " + spec.target + ")";
}

Result<EngineContext> OpenEngine(const StartRequest& request) {
  TENON_TRY(docker::EngineAddress address, docker::FindEngine(request.environment));
  auto engine = docker::Engine::Connect(address.socket);
  if (!engine.ok()) {
    return std::move(engine).error().Wrap("asking the engine at " + address.socket + " (" +
                                          address.from + ")");
  }
  TENON_TRY(docker::EngineInfo info, engine->Info());
  EngineContext context{std::move(*engine), std::move(info), {}, MachineWords(request.spec)};
  // On a rootless engine, root inside the container is our user, so uid 0 is right.
  if (!context.info.rootless) context.user = OurCredentials();
  return context;
}

// A rootless engine has no control over cgroups of version 1. It accepts the limits without
// applying them.
std::optional<run::Notice> LimitsNotHeld(const run::ContainerSpec& spec,
                                         const docker::EngineInfo& info) {
  if (!info.rootless || info.cgroup_version != "1") return std::nullopt;
  if (spec.memory_bytes == 0 && spec.nano_cpus == 0) return std::nullopt;
  const char* which = spec.nano_cpus == 0      ? "memory"
                      : spec.memory_bytes == 0 ? "cpus"
                                               : "memory and cpus";
  return run::Notice{run::Level::kWarning,
                     std::string(which) +
                         ": this engine runs without root on a machine with cgroups of version 1 "
                         "and can't hold the limit; the run goes on without it",
                     "cgroups of version 2, or an engine run by root, can"};
}

}  // namespace

bool SegmentInit::IsGone() const { return !IsLockedByOther(segment_).value_or(true); }

executor::Init::Word SegmentInit::Read() const {
  const auto facts = ReadAll();
  if (!facts.ok()) return {};
  return {facts->script_us, facts->script_ended};
}

Result<Facts> SegmentInit::ReadAll() const {
  struct stat now {};
  const int64_t size = ::stat(segment_.c_str(), &now) == 0 ? now.st_size : -1;
  if (last_ && last_->size == size) return last_->facts;
  const bool gone = IsGone();
  TENON_TRY(Facts facts, ReadFacts(segment_));
  if (gone) last_ = Last{size, facts};
  return facts;
}

ContainerExecutor::ContainerExecutor(StartRequest request, Facts facts)
    : request_(std::move(request)),
      facts_(std::move(facts)),
      folder_(request_.run.Folder()),
      init_(folder_.script_segment()),
      made_(facts_.container),
      script_(init_, request_.spec.keep_on_fail) {}

Result<ContainerExecutor::Ground> ContainerExecutor::FindGround(Handover& handover,
                                                                const std::atomic<bool>& stop) {
  const run::ContainerSpec& spec = request_.spec.container;
  if (!request_.spec.setup.empty()) {
    handover.Put(run::Notice{run::Level::kInfo,
                             "`setup` of the target is for scripts outside of containers; its "
                             "lines were not run",
                             ""});
  }
  TENON_TRY(EngineContext context, OpenEngine(request_));
  // Fail before anything is fetched or made if the requested GPU cannot be had.
  gpu::HostFacts host = gpu::LookAtHost("/", GetVariable(request_.environment, "PATH"));
  host.machine = context.machine;
  TENON_TRY_VOID(gpu::Decide(spec, {}, host, FactsOf(context)));
  TENON_TRY(docker::Image base, EnsureBaseImage(context, spec, handover, stop));
  TENON_TRY(gpu::Access access, gpu::Decide(spec, base.env, host, FactsOf(context)));
  if (access.notice) handover.Put(*access.notice);
  if (auto notice = LimitsNotHeld(spec, context.info)) handover.Put(std::move(*notice));
  if (stop) return Unavailable("stopped");
  return Ground{std::move(context), std::move(access), std::move(base)};
}

Status ContainerExecutor::PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) {
  TENON_TRY(Ground ground, FindGround(handover, stop));
  TENON_TRY_VOID(EnsureEnvironmentImage(ground.engine, request_, ground.base, handover, stop));
  return {};
}

Result<run::ContainerMade> ContainerExecutor::MakeFromEnvironment(Ground& ground,
                                                                  Handover& handover,
                                                                  const std::atomic<bool>& stop) {
  TENON_TRY(ImageEnvironment environment,
            EnsureEnvironmentImage(ground.engine, request_, ground.base, handover, stop));
  if (stop) return Unavailable("stopped");
  // From here on, everything belongs to this run alone.
  const int64_t begin = SystemClock().MonotonicUs();
  maker_.emplace(ground.engine, request_, std::move(environment), ground.access, stop);
  TENON_TRY_VOID(maker_->PrepareFolders());
  TENON_TRY(run::ContainerMade made, maker_->Make());
  handover.Put(run::Step{"container", SystemClock().MonotonicUs() - begin, made.name});
  return made;
}

Status ContainerExecutor::Prepare(Handover& handover, const std::atomic<bool>& stop) {
  TENON_TRY(Ground ground, FindGround(handover, stop));
  auto made = MakeFromEnvironment(ground, handover, stop);
  // Another user of the engine may have removed the image after we found it.
  if (!made.ok() && made.error().kind == ErrorKind::kNotFound && maker_) {
    made = MakeFromEnvironment(ground, handover, stop);
  }
  if (!made.ok()) return std::move(made).error();
  made_ = std::move(*made);
  handover.Put(*made_);
  return {};
}

Result<std::optional<run::ScriptStarted>> ContainerExecutor::Start(const OpenStreams& /*open*/,
                                                                   const Tell& tell) {
  TENON_CHECK(maker_ && made_);
  executor::ContainerRequest request;
  request.container = *made_;
  request.input = maker_->Job();
  request.segment = folder_.script_segment();
  request.door = folder_.container() + "/door";
  request.remake = [this,
                    &tell](const Error& refused) -> Result<std::optional<run::ContainerMade>> {
    TENON_TRY(auto again, maker_->MakeAgain(refused));
    if (again) {
      made_ = again;
      tell(*again);
    }
    return again;
  };
  TENON_TRY_VOID(script_.Start(request));
  return std::optional<run::ScriptStarted>();
}

int64_t ContainerExecutor::Adopt() {
  TENON_CHECK(made_);
  script_.Adopt(*made_);
  return init_.Read().start_us;
}

Result<int> ContainerExecutor::Enter(Door door, std::vector<std::string> command) {
  const std::string& id = request_.spec.id;
  if (made_) return EnterContainer(request_, *made_, door, std::move(command));
  if (facts_.end) {
    return NotFound("the run " + id + " ended before it had a container")
        .WithHint("`tenon show " + id + "` tells why");
  }
  return NotFound("the run " + id + " has no container yet")
      .WithHint("`tenon logs -f " + id + "` shows what it is doing");
}

// Takes the metrics that an init that was killed has not recorded.
bool ContainerExecutor::FetchMetrics(Recorder& recorder, SafeNames& names) {
  const auto facts = init_.ReadAll();
  if (!facts.ok() && facts.error().kind != ErrorKind::kNotFound) return false;
  return TakeMetricsAfter(folder_, facts.ok() ? facts->metrics : MetricPositions(), recorder,
                          names);
}

Status ContainerExecutor::CopyOutputs(Recorder& recorder) {
  const int64_t begin = SystemClock().MonotonicUs();
  TENON_TRY(docker::Engine engine, docker::Engine::Connect(made_->socket));
  TENON_TRY(const auto found, engine.Find(made_->id));
  if (!found) return {};
  // Replaces everything that an earlier try has copied. The folder must exist even if nothing is
  // copied: a missing folder would mean that the script has left no outputs.
  TENON_TRY_VOID(RemoveTree(folder_.outputs()));
  TENON_TRY_VOID(MakeDirs(folder_.outputs()));
  docker::TarExtractor tar(folder_.outputs(), /*strip=*/1);
  const Status copied =
      engine.GetArchive(made_->id, std::string(executor::kWorkInside) + "/outputs",
                        [&](std::string_view bytes) { return tar.Feed(bytes); });
  // A script may remove the folder; then there is nothing to copy.
  if (!copied.ok() && copied.error().kind == ErrorKind::kNotFound) return {};
  if (!copied.ok()) return copied;
  TENON_TRY_VOID(tar.Finish());
  recorder.Append(run::Step{"copy outputs", SystemClock().MonotonicUs() - begin,
                            Count(tar.files(), "file", "files") + ", " + HumanBytes(tar.bytes())});
  return {};
}

std::optional<KeptOutputs> ContainerExecutor::FetchOutputs(Recorder& recorder) {
  if (!made_ || request_.spec.container.shared_volumes) return std::nullopt;
  Status copied = CopyOutputs(recorder);
  outputs_inside_ = !copied.ok();
  if (copied.ok()) return std::nullopt;
  return KeptOutputs{"the container " + made_->name,
                     std::move(copied).error().Wrap("copying the outputs out of the container")};
}

bool ContainerExecutor::StaysToBeLookedAt() const {
  if (script_.is_kept()) return true;
  return request_.spec.keep_on_fail && facts_.end && facts_.end->state != run::State::kCompleted;
}

bool ContainerExecutor::Release(const Tell& tell) {
  const bool stays = StaysToBeLookedAt();
  if (stays) {
    if (script_.is_kept()) {
      tell(run::Notice{run::Level::kInfo, "the container " + made_->name + " is kept",
                       "`tenon exec " + request_.spec.id + " -- COMMAND` and `tenon shell " +
                           request_.spec.id + "` enter it; `tenon experiment clean -t " +
                           request_.spec.target + "` removes it"});
    }
  } else if (made_ && !outputs_inside_) {
    if (auto gone = script_.Remove(*made_); gone.ok()) {
      (void)RemoveFile(folder_.engine_mark()).ok();
    } else {
      // The mark stays, so that `sweep` or the end of another run tries again.
      tell(run::Notice{
          run::Level::kWarning,
          "the container " + made_->name + " could not be removed: " + gone.error().message,
          "tenon gc"});
    }
  } else if (!made_ && facts_.runner) {
    // The runner was killed before it could record the container that it had made.
    (void)Sweep(request_.run.home, {{request_.spec.id}}).ok();
  }
  // An init that was killed has not returned the reserve.
  if (init_.IsGone()) journal::GiveBackReserve(folder_.script_segment());
  return !stays;
}

}  // namespace tenon::runner
