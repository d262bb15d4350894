// SPDX-License-Identifier: Apache-2.0
#include "project/resolve.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "project/attach.h"
#include "project/dependencies/packages.h"
#include "project/files/container_keys.h"
#include "project/script_path.h"
#include "project/shared_folder.h"
#include "project/types.h"

namespace tenon::project {
namespace {

std::string Quoted(std::string_view name) { return "`" + ForTerminal(name) + "`"; }

// `-c aml_config\local.runconfig` means `-c local`.
std::string ConfigurationName(std::string typed) {
  std::replace(typed.begin(), typed.end(), '\\', '/');
  if (!typed.ends_with(".runconfig")) return typed;
  typed.resize(typed.size() - std::string_view(".runconfig").size());
  return std::string(BaseName(typed));
}

std::vector<std::string> ConfigurationNames(const Project& project) {
  std::vector<std::string> names;
  for (const RunConfigurationEntry& entry : ListRunConfigurations(project))
    names.push_back(entry.name);
  return names;
}

Error NoSuchConfiguration(const Project& project, const Setting<std::string>& name) {
  const std::vector<std::string> names = ConfigurationNames(project);
  if (!name.given()) {
    return NotFound("no run configuration is named, and there is no aml_config/local.runconfig")
        .WithHint("name one with -c: " + Join(names, ", "));
  }
  if (ConfigFile(project, name.value, ".compute")) {
    std::vector<std::string> users;
    for (const RunConfigurationEntry& entry : ListRunConfigurations(project)) {
      if (entry.target == name.value) users.push_back(entry.name);
    }
    return NotFound(Quoted(name.value) + " is a target, not a run configuration")
        .WithHint(users.empty() ? "no run configuration uses it; write `-t " + name.value + "`"
                                : "run configurations that use it: " + Join(users, ", ") +
                                      "; write `-c " + users.front() + "`");
  }
  Error error = NotFound("there is no run configuration " + Quoted(name.value));
  if (const auto near = DidYouMean(name.value, names)) {
    error.hint = "did you mean `-c " + *near + "`?";
  } else if (!names.empty()) {
    error.hint = "there are: " + Join(names, ", ");
  } else {
    error.hint = "`-c local` and `-c docker` need none; `tenon computetarget attach` makes others";
  }
  return error;
}

Result<RunConfiguration> FindConfiguration(const Project& project, const Setting<std::string>& name,
                                           std::vector<std::string>* notices) {
  if (RunConfigurationFile(project, name.value)) return ReadRunConfiguration(project, name.value);
  if (!IsBuiltInTarget(name.value) || !ConfigurationNames(project).empty() ||
      (name.given() && ConfigFile(project, name.value, ".compute"))) {
    return NoSuchConfiguration(project, name);
  }
  notices->push_back(
      (project.has_config ? "aml_config/ has no run configuration"
                          : "there is no aml_config/ in " + ForTerminal(project.root)) +
      std::string(": running with Framework Python on the target ") + Quoted(name.value));
  return BuiltInRunConfiguration(name.value);
}

Result<Target> FindTarget(const Project& project, const Setting<std::string>& name) {
  if (ConfigFile(project, name.value, ".compute") || IsBuiltInTarget(name.value)) {
    return ReadTarget(project, name.value);
  }
  const std::string where =
      name.origin.kind == Origin::Kind::kFile ? name.origin.Text() + ": Target" : "-t";
  std::vector<std::string> names;
  for (const TargetEntry& entry : ListTargets(project)) names.push_back(entry.name);
  const auto near = DidYouMean(name.value, names);
  return NotFound(where + ": there is no target " + Quoted(name.value) + " (no aml_config/" +
                  ForTerminal(name.value) + ".compute)")
      .WithHint(near ? "did you mean " + Quoted(*near) + "?" : "there are: " + Join(names, ", "));
}

Status TakeScript(const Request& request, const RunConfiguration& configuration, Resolved* out) {
  if (request.script) {
    if (request.script->ends_with(".runconfig")) {
      return Invalid(Quoted(*request.script) + " is a run configuration, not a script")
          .WithHint("write `-c " + ConfigurationName(*request.script) + "` and then a script");
    }
    TENON_TRY(out->script.value,
              FileInProject(out->project.root, request.cwd, *request.script, "the script"));
    out->script.origin = Origin::Option("SCRIPT");
    out->arguments = {request.arguments, Origin::Option("SCRIPT")};
    return {};
  }
  const auto& vector = configuration.argument_vector;
  if (request.only_look && (vector.empty() || vector.front().value == "$file")) return {};
  if (vector.empty() || vector.front().value == "$file") {
    return Invalid("no script is named").WithHint("name one: `tenon submit train.py`");
  }
  const Setting<std::string>& first = vector.front();
  Result<std::string> script =
      FileInProject(out->project.root, out->project.root, first.value, "the script");
  if (!script.ok()) return std::move(script).error().Wrap(first.origin.Text() + ": ArgumentVector");
  out->script = {std::move(script).value(), first.origin};
  out->arguments.origin = first.origin;
  for (size_t i = 1; i < vector.size(); ++i) out->arguments.value.push_back(vector[i].value);
  return {};
}

Status TakeFile(const Request& request, const std::optional<std::string>& typed, const char* option,
                const Setting<std::string>& otherwise, const std::string& root,
                Setting<std::string>* out) {
  *out = otherwise;
  if (!typed) return {};
  TENON_TRY(out->value,
            FileInProject(root, request.cwd, *typed, std::string(option) + ": the file"));
  out->origin = Origin::Option(option);
  return {};
}

Status TakeEnvironment(const Request& request, const RunConfiguration& configuration,
                       Resolved* out) {
  out->environment = configuration.environment;
  for (const auto& [name, value] : request.environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return Invalid("--env: " + Quoted(name) + " cannot be the name of a variable")
          .WithHint("write `--env NAME=VALUE`");
    }
    const auto same =
        std::find_if(out->environment.begin(), out->environment.end(),
                     [&name = name](const auto& entry) { return entry.first == name; });
    Setting<std::string> setting{value, Origin::Option("--env")};
    if (same != out->environment.end()) {
      same->second = std::move(setting);
    } else {
      out->environment.emplace_back(name, std::move(setting));
    }
  }
  return {};
}

bool IsContainer(const TargetType& type) { return type.executor == run::ExecutorKind::kContainer; }

void AddNotices(const RunConfiguration& configuration, Resolved* out) {
  for (const std::string& notice : configuration.notices) out->notices.push_back(notice);
  for (const std::string& notice : out->target.notices) out->notices.push_back(notice);
  const TargetType& type = *FindTargetType(out->target.type.value);
  const std::string of_type = "a target of type " + std::string(type.name);
  if (!out->managed_environment && out->conda_file.origin.kind == Origin::Kind::kOption) {
    out->notices.push_back(
        IsContainer(type) ? "-d has no effect: userManagedEnvironment is true, so the image's own "
                            "Python is used as it is"
                          : "-d has no effect: " + of_type +
                                " uses its own Python as it is unless it says "
                                "userManagedEnvironment: false");
  }
  if (out->gpus.given() && !IsContainer(type)) {
    const bool option = out->gpus.origin.kind == Origin::Kind::kOption;
    out->notices.push_back((option ? "--gpus" : out->gpus.origin.Text() + ": gpus") +
                           " has no effect: " + of_type + " sees the machine's GPUs as they are");
  }
  const Setting<std::string>& share = out->target.native_shared_directory;
  if (!share.value.empty() && HasNoShare(out->target)) {
    out->notices.push_back(share.origin.Text() +
                           ": nativeSharedDirectory needs sharedVolumes: true in a container; the "
                           "run goes on without AZUREML_NATIVE_SHARE_DIRECTORY");
  }
}

Status TakeGpus(const Request& request, Resolved* out) {
  out->gpus = out->target.gpus;
  if (!request.gpus) return {};
  TENON_TRY(out->gpus.value, ParseGpusOption(*request.gpus));
  out->gpus.origin = Origin::Option("--gpus");
  return {};
}

Status TakePackages(bool only_look, Resolved* out) {
  out->managed_environment = !out->target.user_managed_environment.value;
  if (!out->managed_environment) return {};
  Result<ReadPackagesResult> read = ReadPackages(out->project.root, out->conda_file);
  if (!read.ok()) {
    if (!only_look) return std::move(read).error();
    out->notices.push_back(read.error().message);
    out->packages_error = std::move(read).error();
    return {};
  }
  out->packages = std::move(read->packages);
  for (std::string& notice : read->notices) out->notices.push_back(std::move(notice));
  return {};
}

// The line or option that asks for a GPU; "" when none does.
std::string WhoAsksForGpu(const Resolved& resolved) {
  const auto said = [](const Origin& at, const std::string& words) {
    return (at.name.empty() ? "" : at.name + ":" + std::to_string(at.line) + ": ") + words;
  };
  const Setting<std::string>& gpus = resolved.gpus;
  const Setting<bool>& nvidia_docker = resolved.target.nvidia_docker;
  if (!gpus.value.empty() && gpus.value != "none") {
    if (gpus.origin.kind == Origin::Kind::kOption) return "--gpus " + gpus.value;
    return said(gpus.origin, "gpus: " + gpus.value);
  }
  if (nvidia_docker.given() && nvidia_docker.value) {
    return said(nvidia_docker.origin, "nvidiaDocker: true");
  }
  return "";
}

run::ContainerSpec ToContainerSpec(const Resolved& resolved) {
  const Target& target = resolved.target;
  run::ContainerSpec spec;
  spec.image = target.base_docker_image.value;
  if (spec.image.empty()) {
    spec.image = kDefaultImage;
  } else {
    const Origin& at = target.base_docker_image.origin;
    spec.image_where = at.name + ":" + std::to_string(at.line);
  }
  spec.shared_volumes = target.shared_volumes.value;
  if (target.nvidia_docker.given()) spec.nvidia_docker = target.nvidia_docker.value;
  spec.gpus = resolved.gpus.value;
  spec.gpus_from_option = resolved.gpus.origin.kind == Origin::Kind::kOption;
  spec.gpu_where = WhoAsksForGpu(resolved);
  spec.memory_bytes = target.memory_bytes.value;
  spec.nano_cpus = target.nano_cpus.value;
  spec.shm_bytes = target.shm_bytes.value;
  spec.ulimits = target.ulimits.value;
  spec.read_only_root = target.read_only_root.value;
  spec.network = target.network.value;
  return spec;
}

}  // namespace

Result<Resolved> Resolve(const Request& request) {
  Resolved out;
  TENON_TRY(out.project, OpenProject(request.cwd, request.project_dir));
  out.run_configuration = request.run_configuration
                              ? Setting<std::string>{ConfigurationName(*request.run_configuration),
                                                     Origin::Option("-c")}
                              : Setting<std::string>{"local", Origin::Default()};
  TENON_TRY(const RunConfiguration configuration,
            FindConfiguration(out.project, out.run_configuration, &out.notices));

  out.target_name = request.target ? Setting<std::string>{*request.target, Origin::Option("-t")}
                                   : configuration.target;
  if (!request.target && configuration.missing_target) return *configuration.missing_target;
  TENON_TRY(out.target, FindTarget(out.project, out.target_name));

  if (!out.target.wrong_types.empty()) {
    if (!request.only_look) return out.target.wrong_types.front();
    for (const Error& wrong : out.target.wrong_types) out.notices.push_back(wrong.message);
  }
  Setting<bool>& user_managed = out.target.user_managed_environment;
  if (!user_managed.given() && !configuration.managed_environment.value) {
    user_managed = {true, configuration.managed_environment.origin};
  }
  if (configuration.spark_framework) {
    if (!request.only_look) return *configuration.spark_framework;
    out.notices.push_back(configuration.spark_framework->message);
  }
  out.framework = configuration.framework;

  TENON_TRY_VOID(TakeScript(request, configuration, &out));
  TENON_TRY_VOID(TakeEnvironment(request, configuration, &out));
  TENON_TRY_VOID(TakeFile(request, request.conda_file, "-d", configuration.conda_file,
                          out.project.root, &out.conda_file));
  TENON_TRY_VOID(TakeFile(request, request.spark_file, "-s", configuration.spark_file,
                          out.project.root, &out.spark_file));
  out.prepare_environment = configuration.prepare_environment;
  out.tracked_run = configuration.tracked_run;
  out.use_sampling = configuration.use_sampling;
  TENON_TRY_VOID(TakeGpus(request, &out));
  TENON_TRY_VOID(TakePackages(request.only_look, &out));
  AddNotices(configuration, &out);
  if (request.only_look) {
    for (const Error& missing : out.target.unfinished) out.notices.push_back(missing.message);
  }
  return out;
}

Status CheckSupported(const Resolved& resolved) {
  const Setting<std::string>& type = resolved.target.type;
  const TargetType* found = FindTargetType(type.value);
  if (found != nullptr && found->supported) {
    if (!resolved.target.unfinished.empty()) return resolved.target.unfinished.front();
    if (resolved.packages_error) return *resolved.packages_error;
    return {};
  }
  const std::string where =
      type.origin.kind == Origin::Kind::kFile ? type.origin.Text() + ": " : std::string();
  return Invalid(where + "target " + Quoted(resolved.target_name.value) + " is of type " +
                 type.value + "; this version runs " + Quoted(Join(TargetTypeNames(true), ", ")))
      .WithHint("run it here with `-t local`");
}

run::RunSpec ToRunSpec(const Resolved& resolved) {
  run::RunSpec spec;
  spec.project = resolved.project.name.value;
  spec.project_id = resolved.project.id.value;
  spec.script = resolved.script.value;
  spec.arguments = resolved.arguments.value;
  spec.parameters = run::ParametersFromArguments(spec.arguments);
  spec.target = resolved.target_name.value;
  spec.target_type = resolved.target.type.value;
  spec.run_configuration = resolved.run_configuration.value;
  const TargetType* type = FindTargetType(spec.target_type);
  if (type != nullptr) spec.executor = type->executor;
  spec.managed_environment = resolved.managed_environment;
  spec.prepare_environment = resolved.prepare_environment.value;
  spec.packages = resolved.packages;
  spec.setup = resolved.target.setup.value;
  if (spec.executor == run::ExecutorKind::kContainer) spec.container = ToContainerSpec(resolved);
  // If no setting names a Python, the runner finds one that fits.
  const bool any_python = resolved.managed_environment && !resolved.target.python_location.given();
  if (!any_python) spec.python = resolved.target.python_location.value;
  for (const auto& [name, setting] : resolved.environment) {
    spec.environment.emplace_back(name, setting.value);
  }
  spec.shared_directory = SharedFolder(resolved.project, resolved.target);
  spec.tracked = resolved.tracked_run.value;
  return spec;
}

}  // namespace tenon::project
