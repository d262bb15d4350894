// SPDX-License-Identifier: Apache-2.0
#include "project/check.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/conda_file.h"
#include "project/dependencies/packages.h"
#include "project/dependencies/spark_file.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/project.h"
#include "project/types.h"
#include "project/upgrade/upgrade_check.h"

namespace tenon::project {
namespace {

using Level = Finding::Level;

// Removes "12:" from the front of `text`. False when it does not begin like that.
bool TakeNumber(std::string_view* text, int* out) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *out);
  const auto length = static_cast<size_t>(end - text->data());
  if (error != std::errc() || length >= text->size() || (*text)[length] != ':') return false;
  text->remove_prefix(length + 1);
  return true;
}

// The readers' messages begin with "file:line:column: ", "file:line: " or "file: ".
Finding FromMessage(Level level, const std::string& file, std::string_view message,
                    std::string hint) {
  Finding out{level, file, 0, 0, std::string(message), std::move(hint)};
  if (!message.starts_with(file + ":")) return out;
  std::string_view rest = message.substr(file.size() + 1);
  int line = 0, column = 0;
  if (TakeNumber(&rest, &line)) {
    out.line = line;
    if (TakeNumber(&rest, &column)) out.column = column;
  }
  out.text = Trim(rest);
  return out;
}

class Checker {
 public:
  explicit Checker(Project project) : project_(std::move(project)) {}

  void Run();
  void Add(Level level, const std::string& file, const Error& error) {
    out_.findings.push_back(FromMessage(level, file, error.message, error.hint));
  }
  Checked Take();

 private:
  void AddAt(Level level, const Origin& at, std::string text, std::string hint = "") {
    out_.findings.push_back({level, at.name, at.line, at.column, std::move(text), std::move(hint)});
  }
  void AddNotices(const std::string& file, const std::vector<std::string>& notices) {
    for (const std::string& notice : notices) {
      out_.findings.push_back(FromMessage(Level::kWarning, file, notice, ""));
    }
  }
  void CheckTarget(const std::string& name);
  void CheckMachine(const Target& target, const TargetType& type);
  void CheckLimits(const Target& target, const TargetType& type);
  void CheckFar(const Target& target, const TargetType& type);
  void CheckRunConfiguration(const std::string& name);
  // Whether runs on its target need the packages that the configuration names.
  bool CheckTargetOf(const RunConfiguration& configuration);
  void CheckScript(const RunConfiguration& configuration);
  void CheckDependencyFile(const Setting<std::string>& path, const std::string& by, bool used,
                           bool conda);
  void CheckConda(const std::string& file, bool used);
  void CheckSpark(const std::string& file);

  Project project_;
  Checked out_;
  struct Use {
    bool needed = false;  // by a run configuration, as far as can be told
    bool conda = false;
  };
  std::map<std::string, Use> dependency_files_;  // each is checked once, at the end
};

// Keys that only have an effect on containers.
void Checker::CheckLimits(const Target& target, const TargetType& type) {
  const auto look = [&](const char* key, const auto& setting) {
    if (!setting.given()) return;
    AddAt(Level::kWarning, setting.origin,
          std::string(key) + " has no effect on a target of type " + std::string(type.name),
          "take the line away; it is for containers");
  };
  look("gpus", target.gpus);
  look("memory", target.memory_bytes);
  look("cpus", target.nano_cpus);
  look("shmSize", target.shm_bytes);
  look("ulimits", target.ulimits);
  look("readOnlyRoot", target.read_only_root);
  look("network", target.network);
}

// Keys that only have an effect on other machines.
void Checker::CheckFar(const Target& target, const TargetType& type) {
  const auto look = [&](const char* key, const auto& setting) {
    if (!setting.given()) return;
    AddAt(Level::kWarning, setting.origin,
          std::string(key) + " has no effect on a target of type " + std::string(type.name),
          "take the line away; it is for machines reached by SSH");
  };
  look("port", target.port);
  look("tenonDirectory", target.tenon_directory);
  look("whenIdle", target.idle_after_us);
}

void Checker::CheckMachine(const Target& target, const TargetType& type) {
  const bool container = type.executor == run::ExecutorKind::kContainer;
  if (target.nvidia_docker.value && !container) {
    AddAt(Level::kWarning, target.nvidia_docker.origin,
          "nvidiaDocker has no effect on a target of type " + std::string(type.name),
          "a target of this type sees the machine's GPU as it is; take the line away");
  }
  if (container && target.shared_volumes.given() && !target.shared_volumes.value &&
      !target.native_shared_directory.value.empty()) {
    AddAt(Level::kNote, target.shared_volumes.origin,
          "with sharedVolumes false the container has no shared folder: "
          "AZUREML_NATIVE_SHARE_DIRECTORY is not set",
          "write true if a script needs it");
  }
  if (!container) CheckLimits(target, type);
  if (type.host == HostKind::kHere) CheckFar(target, type);
  if (container && target.setup.given()) {
    AddAt(Level::kWarning, target.setup.origin, "setup has no effect in a container",
          "it is for scripts outside of containers; put it into the image");
  }
  const std::string& mode = target.yarn_deploy_mode.value;
  if (mode != "cluster" && mode != "client") {
    AddAt(Level::kWarning, target.yarn_deploy_mode.origin,
          "yarnDeployMode: expected cluster or client, found `" + ForTerminal(mode) + "`");
  }
  const Setting<std::string>& python = target.python_location;
  if (type.host == HostKind::kHere && python.value.starts_with('/') && !Exists(python.value)) {
    AddAt(Level::kWarning, python.origin, "pythonLocation: there is no such file here");
  }
}

void Checker::CheckTarget(const std::string& name) {
  const std::string file = JoinPath(kConfigFolder, name + ".compute");
  ++out_.files;
  const Result<Target> target = ReadTarget(project_, name);
  if (!target.ok()) return Add(Level::kError, file, target.error());
  AddNotices(file, target->notices);
  for (const Error& wrong : target->wrong_types) Add(Level::kError, file, wrong);
  for (const Error& missing : target->unfinished) Add(Level::kWarning, file, missing);
  if (target->password.value == PasswordForm::kClearText) {
    AddAt(Level::kWarning, target->password.origin,
          "password: this is a secret in clear text, readable for everyone who gets the project",
          "`tenon secrets import " + ShellQuote(name) +
              "` moves it into your encrypted store; then change it on the machine");
  }
  const TargetType* type = FindTargetType(target->type.value);
  CheckMachine(*target, *type);
  if (!type->supported) {
    AddAt(Level::kNote, target->type.origin,
          "this version cannot run targets of type " + target->type.value);
  }
}

bool Checker::CheckTargetOf(const RunConfiguration& configuration) {
  const std::string& name = configuration.target.value;
  if (configuration.missing_target) {
    Add(Level::kError, configuration.file, *configuration.missing_target);
    return false;
  }
  if (!ConfigFile(project_, name, ".compute") && !IsBuiltInTarget(name)) {
    std::vector<std::string> names;
    for (const TargetEntry& entry : ListTargets(project_)) names.push_back(entry.name);
    const auto near = DidYouMean(name, names);
    AddAt(Level::kError, configuration.target.origin,
          "Target: there is no target `" + ForTerminal(name) + "` (no aml_config/" +
              ForTerminal(name) + ".compute)",
          near ? "did you mean `" + *near + "`?" : "there are: " + Join(names, ", "));
    return false;
  }
  const Result<Target> target = ReadTarget(project_, name);
  if (!target.ok()) return false;
  const Setting<bool>& user_managed = target->user_managed_environment;
  return user_managed.given() ? !user_managed.value
                              : !user_managed.value && configuration.managed_environment.value;
}

void Checker::CheckScript(const RunConfiguration& configuration) {
  if (configuration.argument_vector.empty()) return;
  const Setting<std::string>& script = configuration.argument_vector.front();
  if (script.value == "$file") return;
  std::string path = script.value;
  std::replace(path.begin(), path.end(), '\\', '/');
  if (Exists(JoinPath(project_.root, path))) return;
  AddAt(Level::kWarning, script.origin,
        "ArgumentVector: there is no file `" + ForTerminal(script.value) + "` in the project",
        "name the script relative to the project's folder, or write $file");
}

void Checker::CheckConda(const std::string& file, bool used) {
  const Result<ReadPackagesResult> packages = ReadPackages(project_.root, {file, {}});
  if (PackagesFormatOf(file) != PackagesFormat::kConda) {
    if (!packages.ok()) return Add(used ? Level::kError : Level::kWarning, file, packages.error());
    return AddNotices(file, packages->notices);
  }
  const Result<CondaFile> conda = ReadCondaFile(project_.root, file);
  if (!conda.ok()) return Add(Level::kError, file, conda.error());
  AddNotices(file, conda->notices);
  for (const DependencyFinding& found : CheckDependencies(*conda)) {
    const Level level = found.level == DependencyFinding::Level::kNote            ? Level::kNote
                        : found.level == DependencyFinding::Level::kError && used ? Level::kError
                                                                                  : Level::kWarning;
    out_.findings.push_back({level, file, found.line, found.column, found.text, found.hint});
  }
  if (packages.ok() || !used) return;
  // A problem that stops a run and has no finding yet: a missing wheel, a Windows path.
  const Finding stop =
      FromMessage(Level::kError, file, packages.error().message, packages.error().hint);
  const bool said = std::any_of(
      out_.findings.begin(), out_.findings.end(),
      [&](const Finding& found) { return found.file == file && found.line == stop.line; });
  if (!said) out_.findings.push_back(stop);
}

void Checker::CheckSpark(const std::string& file) {
  const Result<SparkFile> spark = ReadSparkFile(project_.root, file);
  if (!spark.ok()) return Add(Level::kError, file, spark.error());
  AddNotices(file, spark->notices);
}

void Checker::CheckDependencyFile(const Setting<std::string>& path, const std::string& by,
                                  bool used, bool conda) {
  if (path.value.empty()) return;
  if (!Exists(JoinPath(project_.root, path.value))) {
    if (!path.given()) return;
    // Every file of 2017 names the usual path. If no file is there, the environment has no
    // packages.
    const bool usual =
        path.value.starts_with("aml_config/") &&
        path.value.ends_with(conda ? "/conda_dependencies.yml" : "/spark_dependencies.yml");
    const Level level = !used ? Level::kNote : usual ? Level::kWarning : Level::kError;
    AddAt(level, path.origin,
          by + ": there is no file `" + ForTerminal(path.value) + "`" +
              (used ? "" : "; nothing here needs it"),
          used ? "write the file, or the path of another, relative to the project's folder" : "");
    return;
  }
  Use& use = dependency_files_[path.value];
  use.needed |= used;
  use.conda |= conda;
}

void Checker::CheckRunConfiguration(const std::string& name) {
  const std::string file = RunConfigurationFile(project_, name).value_or(name);
  ++out_.files;
  const Result<RunConfiguration> configuration = ReadRunConfiguration(project_, name);
  if (!configuration.ok()) return Add(Level::kError, file, configuration.error());
  AddNotices(file, configuration->notices);
  if (file.ends_with(".runconfig") && ConfigFile(project_, name, ".amb")) {
    out_.findings.push_back({Level::kNote, JoinPath(kConfigFolder, name + ".amb"), 0, 0,
                             "not read, because there is " + file, ""});
  }
  const bool managed = CheckTargetOf(*configuration);
  if (configuration->spark_framework) {
    Add(Level::kWarning, file, *configuration->spark_framework);
  }
  CheckScript(*configuration);
  const bool spark = configuration->framework.value == Framework::kPySpark;
  CheckDependencyFile(configuration->conda_file, "CondaDependenciesFile", managed, true);
  CheckDependencyFile(configuration->spark_file, "SparkDependenciesFile", spark, false);
}

void Checker::Run() {
  if (!project_.has_config) {
    out_.findings.push_back({Level::kNote, "", 0, 0,
                             "there is no aml_config/ here: scripts run on the target `local` with "
                             "Framework Python",
                             "`tenon computetarget attach local -n local` writes the files"});
    return;
  }
  for (const std::string& name : NamesWithEnding(project_, ".compute")) CheckTarget(name);
  for (const RunConfigurationEntry& entry : ListRunConfigurations(project_)) {
    CheckRunConfiguration(entry.name);
  }
  for (const auto& [file, use] : dependency_files_) {
    ++out_.files;
    use.conda ? CheckConda(file, use.needed) : CheckSpark(file);
  }
}

Checked Checker::Take() {
  out_.root = project_.root;
  out_.name = project_.name.value;
  std::stable_sort(out_.findings.begin(), out_.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
                   });
  return std::move(out_);
}

}  // namespace

std::string_view LevelName(Finding::Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kNote:
      return "note";
  }
  return "note";
}

size_t Checked::Count(Finding::Level level) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [level](const Finding& finding) { return finding.level == level; }));
}

Result<Checked> CheckProject(const std::string& cwd,
                             const std::optional<std::string>& project_dir) {
  std::optional<Error> broken;
  TENON_TRY(Project project, OpenProjectToLook(cwd, project_dir, &broken));
  Checker checker(std::move(project));
  if (broken) checker.Add(Level::kError, ".azureml/project.json", *broken);
  checker.Run();
  return checker.Take();
}

}  // namespace tenon::project
