// SPDX-License-Identifier: Apache-2.0
#include "runner/container/container_maker.h"

#include <fcntl.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "docker/tar.h"
#include "run/env_vars.h"
#include "runner/container/init.h"
#include "runner/environment/environments.h"
#include "runner/metrics/metric_files.h"
#include "runner/supervise/prepare.h"
#include "runner/supervise/script_run.h"

namespace tenon::runner {
namespace {

constexpr const char* kPrivateOptions = "rw,nosuid,mode=0700,size=1m";
constexpr const char* kTemporaryOptions = "rw,nosuid,nodev,mode=1777";
// Folders inside the container whose Python files are the run's, not the image's.
constexpr const char* kOwnSources[] = {"/azureml-run", "/azureml-share", "/home", "/tmp"};

// Container names allow fewer characters than run ids. The label has the unchanged id.
std::string ContainerName(const run::RunSpec& spec) {
  std::string name = "tenon-" + spec.id;
  bool changed = false;
  for (char& c : name) {
    const bool taken = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
    if (taken) continue;
    c = '_';
    changed = true;
  }
  return changed ? name + "-" + spec.key.substr(0, 8) : name;
}

}  // namespace

gpu::EngineFacts FactsOf(const EngineContext& context) {
  return {context.engine.version().name, context.engine.version().version,
          context.engine.version().api, context.info.runtimes, context.info.cdi_devices};
}

ContainerMaker::ContainerMaker(EngineContext context, const StartRequest& request,
                               ImageEnvironment environment, gpu::Access access,
                               const std::atomic<bool>& stop)
    : context_(std::move(context)),
      request_(request),
      stop_(stop),
      folder_(request_.run.Folder()),
      environment_(std::move(environment)),
      access_(std::move(access)) {}

Status ContainerMaker::PrepareFolders() {
  TENON_TRY(shim_, EnsureShim(request_.run.home));
  // Made here so that the user owns them: the init is root, and the script could not use root's
  // FIFO.
  TENON_TRY_VOID(MetricFiles::Open(folder_.metrics()));
  TENON_TRY_VOID(MakeDirs(folder_.container() + "/home", 0755));
  TENON_TRY_VOID(PreparePycache());
  TENON_TRY(share_, EnsureSharedFolder(request_));
  TENON_TRY_VOID(MakeDirs(folder_.container() + "/door", 0700));
  // The init gets this file as an open descriptor (executor/segment_door.h); it cannot open it
  // itself.
  TENON_TRY(UniqueFd segment, OpenFile(folder_.script_segment(), O_WRONLY | O_CREAT, 0644));
  if (!request_.spec.container.read_only_root) return {};
  // A read-only root needs its own passwd and group: nobody can add the user later.
  Credentials nobody{65534, 65534, {}};
  const std::string root = folder_.container() + "/etc-root";
  const Credentials zero{};
  SettleUser(root, zero, "root", "/root");
  SettleUser(root, context_.user, UserName(request_), executor::kHomeInside);
  SettleUser(root, nobody, "nobody", "/nonexistent");
  passwd_ = root + "/etc/passwd";
  group_ = root + "/etc/group";
  return {};
}

Result<run::ContainerMade> ContainerMaker::Make() {
  TENON_TRY(executor::ContainerPlan plan, Plan());
  TENON_TRY(json::Object config, executor::ContainerConfig(plan));
  access_.Apply(&config);
  run::ContainerMade made;
  made.name = ContainerName(request_.spec);
  made.image = environment_.ready.name;
  made.engine = context_.engine.version().name + " " + context_.engine.version().version;
  made.socket = context_.engine.socket();
  // The name belongs to this run alone, so a container that has it is left from an earlier try.
  TENON_TRY_VOID(context_.engine.Remove(made.name));
  if (stop_) return Unavailable("stopped");
  // From here on, a process that finds this run without its runner knows where to look for the
  // container.
  TENON_TRY_VOID(
      WriteFileAtomically(folder_.engine_mark(), made.socket, 0600, Durability::kProcess));
  auto filled = CreateAndFill(config, &made);
  if (!filled.ok()) {
    // By its name: the answer with the id may have been lost.
    if (context_.engine.Remove(made.name).ok()) (void)RemoveFile(folder_.engine_mark()).ok();
    return std::move(filled).error();
  }
  return made;
}

Result<std::optional<run::ContainerMade>> ContainerMaker::MakeAgain(const Error& refused) {
  if (auto next = gpu::NextWay(access_, refused.message, FactsOf(context_))) {
    access_ = std::move(*next);
  } else if (pinned_memory_ && refused.message.find("rlimit") != std::string::npos) {
    pinned_memory_ = false;  // the engine may not be allowed to raise that limit
  } else if (IsAboutTheGpu(refused.message)) {
    const std::string& who = request_.spec.container.gpu_where;
    Error told = refused;
    told.message = (who.empty() ? "" : who + ": ") + "the engine on " + context_.machine +
                   " does not give the container a GPU: " + refused.message;
    return std::move(told).WithHint(
        "on " + context_.machine +
        ", make the engine know the NVIDIA Container Toolkit: `sudo nvidia-ctk runtime configure "
        "--runtime=docker`, then restart it; or run without a GPU: --gpus none");
  } else {
    return std::optional<run::ContainerMade>();
  }
  TENON_TRY(run::ContainerMade made, Make());
  return std::optional<run::ContainerMade>(std::move(made));
}

std::string ContainerMaker::Job() const {
  const run::RunSpec& spec = request_.spec;
  InitJob job;
  job.run_key = spec.key;
  job.door = executor::kDoorInside;
  job.metrics = executor::kMetricsInside;
  job.work = executor::kWorkInside;
  job.shim = executor::kShimInside;
  job.interpreter = IsShellScript(spec.script)    ? "sh"
                    : environment_.python.empty() ? "python"
                                                  : environment_.python;
  job.script = ScriptWord(spec.script);
  job.arguments = spec.arguments;
  job.user = context_.user;
  job.user_name = UserName(request_);
  job.home = executor::kHomeInside;
  job.image = spec.container.image;
  job.own_work = !spec.container.shared_volumes;
  job.keep_on_fail = spec.keep_on_fail;
  job.leftover_grace_us = std::min(spec.grace_us, kLeftoverGraceUs);
  job.secrets = request_.SecretValues();
  job.environment = request_.WithOwn(ContainerVariables(request_, job.user_name));
  job.environment[run::env::kMetricsDir] = executor::kMetricsInside;
  if (!pycache_.empty()) {
    job.environment.emplace(run::env::kPycache, executor::kPycacheInside);
  }
  return job.ToText();
}

Status ContainerMaker::CreateAndFill(const json::Object& config, run::ContainerMade* made) {
  TENON_TRY(made->id, context_.engine.Create(made->name, config));
  if (request_.spec.container.shared_volumes) return {};
  auto copied = CopyIn(made->id);
  if (!copied.ok()) {
    return std::move(copied).error().Wrap("copying the project into the container");
  }
  return {};
}

bool ContainerMaker::IsAboutTheGpu(const std::string& words) const {
  if (access_.way == gpu::Way::kNone) return false;
  const std::string lower = ToLower(words);
  for (const char* word : {"nvidia", "device driver", "cdi"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// The first run that imports an image's packages compiles them; all later containers of the image
// reuse that folder. Files that are the run's own get a folder of the run for what is compiled from
// them.
Status ContainerMaker::PreparePycache() {
  if (environment_.ready.key.empty()) return {};
  const std::string image = environment_.image.substr(environment_.image.find(':') + 1);
  pycache_ = Environments(request_.run.home).folder(environment_.ready.key) + "/pycache-" +
             image.substr(0, 16);
  DropAfterRestart(pycache_, {pycache_});
  for (const char* own : kOwnSources) {
    TENON_TRY_VOID(MakeDirs(pycache_ + own));
    TENON_TRY_VOID(MakeDirs(folder_.container() + "/pycache" + own));
  }
  return {};
}

Result<executor::ContainerPlan> ContainerMaker::Plan() {
  const run::RunSpec& spec = request_.spec;
  executor::ContainerPlan plan;
  plan.image = environment_.image;
  plan.rootless = context_.info.rootless;
  plan.machine_memory_bytes = context_.info.memory_bytes;
  plan.engine_limits = EngineLimits(context_);
  plan.pinned_memory = pinned_memory_ && access_.way != gpu::Way::kNone;
  plan.limits = spec.container;
  plan.command = {executor::kRunnerInside, "init"};
  plan.labels = {{kLabelKind, "run"},
                 {kLabelRun, spec.id},
                 {kLabelKey, environment_.ready.key},
                 {kLabelHome, request_.run.home}};
  TENON_TRY(std::string runner, OwnProgram());
  plan.tmpfs = {{executor::kPrivate, kPrivateOptions}};
  plan.mounts = {{runner, executor::kRunnerInside, true},
                 {folder_.container() + "/door", executor::kDoorInside, true},
                 {folder_.metrics(), executor::kMetricsInside, false},
                 {shim_, executor::kShimInside, true},
                 {folder_.container() + "/home", executor::kHomeInside, false}};
  if (spec.container.shared_volumes) {
    plan.mounts.push_back({folder_.work(), executor::kWorkInside, false});
  } else if (spec.container.read_only_root) {
    plan.volumes.push_back(executor::kWorkInside);
  }
  if (!pycache_.empty()) {
    plan.mounts.push_back({pycache_, executor::kPycacheInside, false});
    for (const char* own : kOwnSources) {
      plan.mounts.push_back({folder_.container() + "/pycache" + own,
                             std::string(executor::kPycacheInside) + own, false});
    }
  }
  if (!share_.empty()) plan.mounts.push_back({share_, executor::kShareInside, false});
  if (spec.container.read_only_root) {
    plan.mounts.push_back({passwd_, "/etc/passwd", true});
    plan.mounts.push_back({group_, "/etc/group", true});
    for (const char* path : {"/tmp", "/var/tmp", "/run"}) {
      plan.tmpfs.emplace_back(path, kTemporaryOptions);
    }
  }
  return plan;
}

Status ContainerMaker::CopyIn(const std::string& id) {
  docker::TarWriter tar(folder_.work(), std::string(executor::kWorkInside).substr(1) + "/",
                        context_.user.uid, context_.user.gid);
  return context_.engine.PutArchive(id, "/", [&]() -> Result<std::string> {
    if (stop_) return Unavailable("stopped");
    return tar.Next();
  });
}

Environment ContainerVariables(const StartRequest& request, const std::string& user_name) {
  const run::RunSpec& spec = request.spec;
  Environment env;
  env["HOME"] = executor::kHomeInside;
  env["USER"] = env["LOGNAME"] = user_name;
  env["XDG_CACHE_HOME"] = std::string(executor::kHomeInside) + "/.cache";
  env["XDG_CONFIG_HOME"] = std::string(executor::kHomeInside) + "/.config";
  for (const auto& [name, value] : spec.environment) env[name] = value;
  env[run::env::kPythonUnbuffered] = "1";
  env[run::env::kRunId] = spec.id;
  env[run::env::kOutputsDir] = std::string(executor::kWorkInside) + "/outputs";
  env["PWD"] = executor::kWorkInside;
  if (!spec.shared_directory.empty()) env[run::env::kShare] = executor::kShareInside;
  return env;
}

}  // namespace tenon::runner
