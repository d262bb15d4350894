// SPDX-License-Identifier: Apache-2.0
// No builder of the engine is needed. A container of the base image, with our runner as its first
// process, makes the environment as the submitting user; then the engine commits the container to
// an image. Package caches and tools are mounted, and credentials come on standard input, so no
// layer contains them.
#include "runner/environment/environment_image.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "docker/frames.h"
#include "environment/key.h"
#include "executor/container_config.h"
#include "executor/sized_text.h"
#include "run/env_vars.h"
#include "runner/environment/build_inside.h"
#include "runner/environment/build_reporter.h"
#include "runner/environment/ensure_environment.h"
#include "runner/environment/environments.h"
#include "runner/environment/make_environment.h"
#include "runner/environment/pins.h"
#include "runner/supervise/prepare.h"

namespace tenon::runner {
namespace {

constexpr const char* kInside = "/.tenon-build";
constexpr int kPollMs = 200;
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Error Gone(const std::string& image) {
  return NotFound("there is no image " + ForTerminal(image))
      .WithHint(image.starts_with("microsoft/")
                    ? "the images of 2017 are gone from the registries; `tenon config upgrade` "
                      "offers another one"
                    : "look at baseDockerImage: is it spelled right, and does its registry have "
                      "that tag?");
}

Error PullError(const run::ContainerSpec& spec, const std::string& machine, const Error& error) {
  const std::string& image = spec.image;
  const std::string& where = spec.image_where;
  const std::string words = error.message;
  Error told = Unavailable("");
  switch (error.kind) {
    case ErrorKind::kNotFound:
      told = Gone(image);
      break;
    case ErrorKind::kDenied:
      told = Denied("the registry does not give out the image " + ForTerminal(image))
                 .WithHint(
                     "if it is private, fetch it once by hand: `docker login`, then `docker "
                     "pull " +
                     ForTerminal(image) + "`" +
                     (image.starts_with("microsoft/")
                          ? "; the images of 2017 are gone: `tenon config upgrade`"
                          : ""));
      break;
    default:
      told = Unavailable("the image " + ForTerminal(image) + " is not on " + machine +
                         " and could not be fetched")
                 .WithHint(image.starts_with("microsoft/")
                               ? "the images of 2017 are gone from the registries; `tenon config "
                                 "upgrade` offers another one"
                               : "without a way to its registry, bring it along: `docker load` or "
                                 "`docker import`, or name another one in baseDockerImage");
      if (error.kind == ErrorKind::kInvalid) told.kind = ErrorKind::kInvalid;
      break;
  }
  told.message += ": " + words;
  if (!where.empty()) told.message = where + ": " + told.message;
  return told;
}

std::string Platform(const docker::Image& image) { return image.os + "-" + image.architecture; }

// Folders of this host that the tools search for packages. They are mounted under the same path.
std::vector<std::string> LocalSources(const StartRequest& request, const Environment& environment) {
  std::vector<std::string> words;
  for (const char* name : {"PIP_FIND_LINKS", "UV_FIND_LINKS", "PIP_INDEX_URL", "UV_INDEX_URL",
                           "PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL"}) {
    std::string value = GetVariable(environment, name);
    std::replace(value.begin(), value.end(), ',', ' ');
    for (const std::string& word : Split(value, ' ')) words.push_back(word);
  }
  for (const run::Package& option : request.spec.packages.pip_options) {
    std::string value = option.text;
    std::replace(value.begin(), value.end(), '=', ' ');
    for (const std::string& word : Split(value, ' ')) words.push_back(word);
  }
  std::vector<std::string> folders;
  for (std::string word : words) {
    if (word.starts_with("file://")) word = word.substr(7);
    if (word.size() < 2 || word[0] != '/' || !IsDirectory(word)) continue;
    if (std::find(folders.begin(), folders.end(), word) == folders.end()) folders.push_back(word);
  }
  return folders;
}

// Removes a build container when it goes out of scope.
class BuildContainer {
 public:
  BuildContainer(docker::Engine& engine, std::string id) : engine_(engine), id_(std::move(id)) {}
  ~BuildContainer() { (void)engine_.Remove(id_).ok(); }
  BuildContainer(const BuildContainer&) = delete;
  BuildContainer& operator=(const BuildContainer&) = delete;

 private:
  docker::Engine& engine_;
  std::string id_;
};

// One build, from the job to the image.
class ImageBuild {
 public:
  ImageBuild(EngineContext& context, const StartRequest& request, const docker::Image& base,
             std::string key, std::string pins, Handover& handover, const std::atomic<bool>& stop)
      : context_(context),
        request_(request),
        base_(base),
        key_(std::move(key)),
        pins_(std::move(pins)),
        home_(request.run.home),
        stop_(stop),
        reporter_(handover, request.run.Folder().build_log()) {}

  struct Built {
    SharedImage image;
    bool of_other_home = false;  // another home was faster
  };
  Result<Built> Run() {
    TENON_TRY_VOID(RemoveStale());
    TENON_TRY(BuildJob build, MakeJob());
    auto made = MakeInside(build);
    (void)RemoveTree(scratch_).ok();
    if (!staged_.empty()) (void)RemoveTree(staged_).ok();
    return made;
  }

 private:
  // We hold the lock of this key, so a build container of this home is a leftover.
  Status RemoveStale() {
    TENON_TRY(auto containers, context_.engine.List(std::string(kLabelKey) + "=" + key_));
    for (const docker::Container& container : containers) {
      if (docker::LabelOf(container.labels, kLabelKind) == "build" &&
          docker::LabelOf(container.labels, kLabelHome) == request_.run.home) {
        TENON_TRY_VOID(context_.engine.Remove(container.id));
      }
    }
    // An image without a name: a process was killed between the commit and naming the image.
    TENON_TRY(const auto images, context_.engine.ListImages(std::string(kLabelKey) + "=" + key_));
    const auto known = Environments(request_.run.home).Find(key_).value_or({});
    for (const docker::Image& image : images) {
      const bool ours = docker::LabelOf(image.labels, kLabelHome) == request_.run.home;
      if (!ours || !image.tags.empty() || (known && known->image_id == image.id)) continue;
      (void)context_.engine.RemoveImage(image.id).ok();  // fails when a run uses it
    }
    return {};
  }

  Result<BuildJob> MakeJob() {
    BuildJob build;
    build.user = context_.user;
    build.user_name = UserName(request_);
    EnvironmentJob& job = build.job;
    job.packages = request_.spec.packages;
    job.masked = request_.SecretValues();
    job.environment = request_.WithOwn(BuildEnvironment(request_.environment));
    ca_bundle_ = FindCaBundle(request_.environment);

    TENON_TRY_VOID(MakeDirs(home_.cache(), 0700));
    TENON_TRY_VOID(MakeDirs(home_.tools(), 0700));
    FetchUv(job.environment);
    if (stop_) return Unavailable("stopped");
    if (WantsConda(job.packages)) TENON_TRY_VOID(Stage(&job));

    // From here on, paths as seen inside the container.
    job.environment = request_.WithOwn(BuildEnvironmentInside(request_.environment));
    if (!pins_.empty()) ApplyPins(std::string(kInside) + "/pins.txt", &job.packages);
    job.prefix = executor::kPrefixInside;
    job.cache = std::string(kInside) + "/cache";
    job.tools = std::string(kInside) + "/tools";
    job.scratch = std::string(kInside) + "/scratch/work";  // a mount point cannot be removed
    job.project = std::string(kInside) + "/project";
    if (!staged_.empty()) job.staged = std::string(kInside) + "/staged";
    if (!ca_bundle_.empty()) job.ca_bundle = std::string(kInside) + "/ca.pem";
    return build;
  }

  // Without it, the build uses the tools of the image.
  void FetchUv(const Environment& environment) {
    const int64_t begin = SystemClock().MonotonicUs();
    const bool first = ListDir(home_.tools()).value_or({}).empty();
    if (first) reporter_.OnProgress("uv", "fetching it", 0, 0);
    auto uv = EnsureStaticUv(home_.tools(), environment, stop_);
    if (!uv.ok()) reporter_.OnOutput("without uv: " + uv.error().message + "\n");
    if (first && uv.ok()) reporter_.OnStep({"uv", SystemClock().MonotonicUs() - begin, "fetched"});
  }

  Status Stage(EnvironmentJob* job) {
    EnvironmentJob on_host = *job;
    on_host.prefix = home_.environment(key_) + ".staged";
    on_host.cache = home_.cache();
    on_host.tools = home_.tools();
    on_host.scratch = request_.run.Folder().container() + "/stage-scratch";
    on_host.project = request_.run.Folder().work();
    on_host.ca_bundle = ca_bundle_;
    auto staged = StageConda(on_host, executor::kPrefixInside, reporter_, stop_);
    if (staged.ok()) {
      staged_ = on_host.prefix;
      return {};
    }
    (void)RemoveTree(on_host.prefix).ok();
    // The image may have a tool of its own.
    if (staged.error().kind == ErrorKind::kNotFound) return {};
    if (staged.error().reason == kNoChannel) {
      job->no_channel = true;
      return {};
    }
    return staged;
  }

  Result<executor::ContainerPlan> Plan(const BuildJob& build) {
    executor::ContainerPlan plan;
    plan.image = base_.id;
    plan.rootless = context_.info.rootless;
    plan.machine_memory_bytes = context_.info.memory_bytes;
    plan.engine_limits = EngineLimits(context_);
    plan.limits.network = "host";  // proxies and indexes of this machine, its loopback included
    plan.labels = {{kLabelKind, "build"},
                   {kLabelKey, key_},
                   {kLabelRun, request_.run.run_id},
                   {kLabelHome, request_.run.home}};
    plan.command = {executor::kRunnerInside, "build"};
    TENON_TRY(std::string runner, OwnProgram());
    scratch_ = request_.run.Folder().container() + "/scratch";
    TENON_TRY_VOID(MakeDirs(scratch_, 0700));
    plan.mounts = {{runner, executor::kRunnerInside, true},
                   {home_.cache(), build.job.cache, false},
                   {home_.tools(), build.job.tools, false},
                   {scratch_, DirName(build.job.scratch), false},
                   {request_.run.Folder().work(), build.job.project, true}};
    if (!pins_.empty()) {
      plan.mounts.push_back({pins_, std::string(kInside) + "/pins.txt", true});
    }
    if (!staged_.empty()) plan.mounts.push_back({staged_, build.job.staged, true});
    if (!ca_bundle_.empty()) plan.mounts.push_back({ca_bundle_, build.job.ca_bundle, true});
    for (const std::string& folder : LocalSources(request_, build.job.environment)) {
      plan.mounts.push_back({folder, folder, true});
    }
    TENON_TRY(const std::string share, EnsureSharedFolder(request_));
    if (!share.empty()) plan.mounts.push_back({share, executor::kShareInside, true});
    return plan;
  }

  // Creates the container under the name that other homes look for. If another home has taken the
  // name, returns "" and that home's image in `theirs`; if that home made no image, a container
  // under another name.
  Result<std::string> Create(const json::Object& config, std::optional<SharedImage>* theirs) {
    const std::string name = BuildContainerName(key_);
    auto id = context_.engine.Create(name, config);
    if (id.ok() || id.error().kind != ErrorKind::kInvalid) return id;
    if (!request_.spec.refresh_environment) {
      TENON_TRY_VOID(WaitForOtherHome(
          context_.engine, key_, request_.run.home,
          [this] { reporter_.OnProgress("image", "another home makes it", 0, 0); }, stop_));
      TENON_TRY(*theirs, FindShared(context_.engine, key_));
      if (*theirs) {
        TENON_TRY_VOID(KeepShared(context_.engine, (*theirs)->id, key_, request_.run.home));
        return std::string();
      }
    }
    return context_.engine.Create(name + "-" + RandomHex(4), config);
  }

  Result<Built> MakeInside(const BuildJob& build) {
    TENON_TRY(executor::ContainerPlan plan, Plan(build));
    TENON_TRY(json::Object config, executor::ContainerConfig(plan));
    std::optional<SharedImage> faster;
    TENON_TRY(std::string id, Create(config, &faster));
    if (faster) return Built{std::move(*faster), true};
    BuildContainer container(context_.engine, id);
    TENON_TRY(docker::Stream stream, context_.engine.Attach(id, /*with_stdin=*/true));
    TENON_TRY_VOID(context_.engine.Start(id));
    TENON_TRY_VOID(executor::WriteSized(stream.fd.get(), build.ToText()));
    TENON_TRY(MadeEnvironment made, Listen(stream, id));
    TENON_TRY(std::string image, Commit(id, made));
    TENON_TRY(auto theirs, NameImage(context_.engine, image, key_, request_.run.home,
                                     request_.spec.refresh_environment));
    if (theirs) return Built{std::move(*theirs), true};
    return Built{{std::move(image), std::move(made)}};
  }

  // Reads the container's answer until its result has come or the container is gone.
  Result<MadeEnvironment> Listen(docker::Stream& stream, const std::string& id) {
    BuildAnswer answer(reporter_);
    std::string stray;  // what it writes to other streams; shown if it dies
    docker::FrameDecoder frames([&](int which, std::string_view bytes) {
      if (which == 1) return answer.Feed(bytes);
      stray.append(bytes.substr(0, 4096 - std::min<size_t>(stray.size(), 4096)));
    });
    TENON_TRY_VOID(frames.Feed(stream.buffered));
    char piece[65536];
    while (!answer.result()) {
      if (stop_) return Unavailable("stopped");
      pollfd ready{stream.fd.get(), POLLIN, 0};
      if (::poll(&ready, 1, kPollMs) <= 0) continue;
      ssize_t count = ::read(stream.fd.get(), piece, sizeof piece);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return HowItDied(id, stray);
      TENON_TRY_VOID(frames.Feed(std::string_view(piece, static_cast<size_t>(count))));
    }
    return *answer.result();
  }

  Error HowItDied(const std::string& id, const std::string& stray) {
    auto container = context_.engine.Find(id);
    if (!container.ok()) {
      return Unavailable("the engine went away while the environment was being made: " +
                         container.error().message)
          .WithHint("start it and submit again; nothing half-made is left");
    }
    if (!*container) {
      return Unavailable(
                 "the container in which the environment was being made was removed by "
                 "someone else")
          .WithHint("submit again");
    }
    std::string message = "the container in which the environment was being made ended early";
    if ((*container)->out_of_memory) message += ": out of memory";
    if (!(*container)->error.empty()) message += ": " + ForTerminal((*container)->error);
    if (!stray.empty()) message += ": " + ForTerminal(Trim(stray));
    return Unavailable(message + " (exit code " + std::to_string((*container)->exit_code) + ")");
  }

  Result<std::string> Commit(const std::string& id, const MadeEnvironment& made) {
    const int64_t begin = SystemClock().MonotonicUs();
    reporter_.OnProgress("image", "storing " + HumanBytes(made.bytes), 0, 0);
    json::Object config;
    json::Array env;
    std::string path = kDefaultPath;
    for (const auto& [name, value] : base_.env) {
      if (name == "PATH") {
        path = value;
      } else {
        env.push_back(json::Value(name + "=" + value));
      }
    }
    env.push_back(json::Value("PATH=" + std::string(executor::kPrefixInside) + "/bin:" + path));
    config["Env"] = std::move(env);
    json::Object labels;
    for (const auto& [name, value] : base_.labels) labels[name] = value;
    labels[kLabelKind] = "environment";
    labels[kLabelKey] = key_;
    labels[kLabelHome] = request_.run.home;
    labels[kLabelRun] = request_.run.run_id;
    labels["tenon.base"] = request_.spec.container.image;
    labels["tenon.file"] = request_.spec.packages.file;
    labels["tenon.python"] = made.python_version;
    labels[kLabelMade] = MadeLabel(made);
    config["Labels"] = std::move(labels);
    config["User"] = base_.user;
    config["WorkingDir"] = base_.working_dir.empty() ? "/" : base_.working_dir;
    json::Array entrypoint, command;
    for (const std::string& word : base_.entrypoint) entrypoint.push_back(json::Value(word));
    for (const std::string& word : base_.command) command.push_back(json::Value(word));
    if (entrypoint.empty() && command.empty()) command.push_back("/bin/sh");
    config["Entrypoint"] = std::move(entrypoint);
    config["Cmd"] = std::move(command);
    auto image =
        context_.engine.Commit(id, "", "", "environment of " + request_.spec.packages.file, config);
    if (!image.ok()) return std::move(image).error().Wrap("storing the environment's image");
    reporter_.OnStep({"image", SystemClock().MonotonicUs() - begin, ImageName(key_)});
    return image;
  }

  EngineContext& context_;
  const StartRequest& request_;
  const docker::Image& base_;
  std::string key_;
  std::string pins_;
  run::Home home_;
  const std::atomic<bool>& stop_;
  JournalBuildReporter reporter_;
  std::string ca_bundle_;
  std::string staged_;
  std::string scratch_;
};

}  // namespace

// Podman's default limits for open files and processes may be above those of this machine; then a
// container does not start. So this program's own hard limits are given.
std::vector<std::string> EngineLimits(const EngineContext& context) {
  if (context.engine.version().name != "Podman") return {};
  std::vector<std::string> limits;
  for (const auto& [name, resource] :
       {std::pair("nofile", RLIMIT_NOFILE), std::pair("nproc", RLIMIT_NPROC)}) {
    struct rlimit limit {};
    if (::getrlimit(resource, &limit) != 0) continue;
    limits.push_back(std::string(name) + "=" +
                     (limit.rlim_max == RLIM_INFINITY ? "-1" : std::to_string(limit.rlim_max)));
  }
  return limits;
}

Result<std::string> OwnProgram() {
  TENON_TRY(std::string path, ReadLink("/proc/self/exe"));
  // Clients that push the runner at the same time replace the file with an identical one (its name
  // contains its hash), so the path without " (deleted)" is right.
  constexpr std::string_view kReplaced = " (deleted)";
  if (path.ends_with(kReplaced) && !Exists(path)) path.resize(path.size() - kReplaced.size());
  return path;
}

std::string UserName(const StartRequest& request) {
  std::string name;
  for (char c : request.spec.user) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain) name += c;
  }
  return name.empty() ? "user" : name;
}

Result<docker::Image> EnsureBaseImage(EngineContext& context, const run::ContainerSpec& spec,
                                      Handover& handover, const std::atomic<bool>& stop) {
  TENON_TRY(auto image, context.engine.FindImage(spec.image));
  if (!image) {
    const int64_t begin = SystemClock().MonotonicUs();
    ProgressThrottle throttle;
    uint64_t layers = 0;
    auto pulled = context.engine.Pull(
        spec.image,
        [&](const docker::PullProgress& progress) {
          layers = progress.layers;
          if (!throttle.Due()) return;
          handover.Put(run::Progress{"pull",
                                     spec.image + ": " + progress.what + ", " +
                                         std::to_string(progress.layers_done) + " of " +
                                         Count(progress.layers, "layer", "layers"),
                                     progress.bytes, progress.total});
        },
        [&] { return stop.load(); });
    if (!pulled.ok()) return PullError(spec, context.machine, std::move(pulled).error());
    TENON_TRY(image, context.engine.FindImage(spec.image));
    if (!image) return Gone(spec.image);
    handover.Put(run::Step{
        "pull", SystemClock().MonotonicUs() - begin,
        spec.image + ", " + Count(layers, "layer", "layers") + ", " + HumanBytes(image->size)});
  }
  return std::move(*image);
}

Result<ImageEnvironment> EnsureEnvironmentImage(EngineContext& context, const StartRequest& request,
                                                const docker::Image& base, Handover& handover,
                                                const std::atomic<bool>& stop) {
  const run::RunSpec& spec = request.spec;
  ImageEnvironment result;
  result.ready.base = spec.container.image;
  result.ready.base_id = base.id;
  result.ready.file = spec.packages.file;
  if (!spec.managed_environment || spec.packages.empty()) {
    result.ready.kind = "base image";
    result.ready.name = spec.container.image;
    result.ready.reused = true;
    result.ready.bytes = base.size;
    result.image = base.id;
    handover.Put(result.ready);
    return result;
  }
  const std::string key = environment::EnvironmentKey(spec.packages, base.id, Platform(base));
  const std::string name = ImageName(key);
  const std::string& home = request.run.home;
  // By its id, because the name may have moved to another image.
  auto there = [&](const EnvironmentRecord& record) -> Result<bool> {
    const std::string& known = record.image_id.empty() ? name : record.image_id;
    TENON_TRY(auto image, context.engine.FindImage(known));
    if (image) result.image = image->id;
    return image.has_value();
  };
  const auto record_of = [&](SharedImage image) {
    EnvironmentRecord record;
    record.ready = result.ready;
    record.ready.kind = "image";
    record.ready.name = name;
    record.ready.python_version = image.made.python_version;
    record.ready.packages = std::move(image.made.installed);
    record.ready.bytes = image.made.bytes;
    record.image_id = result.image = std::move(image.id);
    record.socket = context.engine.socket();
    return record;
  };
  auto adopt = [&]() -> Result<std::optional<EnvironmentRecord>> {
    const auto tell = [&] {
      handover.Put(run::Notice{run::Level::kInfo,
                               "another user of this engine is making the same environment; "
                               "waiting for it",
                               ""});
    };
    TENON_TRY_VOID(WaitForOtherHome(context.engine, key, home, tell, stop));
    TENON_TRY(auto image, FindShared(context.engine, key));
    if (!image) return std::optional<EnvironmentRecord>();
    TENON_TRY_VOID(KeepShared(context.engine, image->id, key, home));
    return std::optional(record_of(std::move(*image)));
  };
  std::string replaced;  // the image that had the name before
  auto make = [&](const std::string& pins) -> Result<EnvironmentRecord> {
    ImageBuild build(context, request, base, key, pins, handover, stop);
    TENON_TRY(const auto old, Environments(home).Find(key));
    TENON_TRY(auto built, build.Run());
    if (old && old->image_id != built.image.id) replaced = old->image_id;
    if (!built.of_other_home) {
      for (const run::Notice& notice : built.image.made.notices) handover.Put(notice);
    }
    return record_of(std::move(built.image));
  };
  TENON_TRY(EnvironmentRecord record,
            EnsureEnvironment(request, key, {there, make, adopt}, handover, stop));
  // The new image is recorded, so runs use it from now on. If a run still uses the old image, that
  // image is removed with the environment. If the old image still has a name, another home uses it.
  if (!replaced.empty() && !Environments(home).InUse(key, request.run.run_id)) {
    const auto old = context.engine.FindImage(replaced);
    if (old.ok() && *old && (*old)->tags.empty()) (void)context.engine.RemoveImage(replaced).ok();
  }
  result.ready = record.ready;
  result.python = std::string(executor::kPrefixInside) + "/bin/python";
  return result;
}

}  // namespace tenon::runner
