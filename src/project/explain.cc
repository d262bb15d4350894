// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/text.h"
#include "project/resolve.h"
#include "project/types.h"

namespace tenon::project {
namespace {

class Rows {
 public:
  void Add(std::string name, const Setting<std::string>& setting) {
    rows.push_back({std::move(name), ForTerminal(setting.value), setting.origin.Text()});
  }
  void Add(std::string name, const Setting<bool>& setting) {
    rows.push_back({std::move(name), setting.value ? "true" : "false", setting.origin.Text()});
  }
  // Only when it says something.
  void AddGiven(std::string name, const Setting<std::string>& setting) {
    if (setting.given() || !setting.value.empty()) Add(std::move(name), setting);
  }
  std::vector<Explanation> rows;
};

std::string Words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(ShellQuote(word));
  return ForTerminal(Join(quoted, " "));
}

void AddMachine(const Target& target, const TargetType& type, Rows* rows) {
  if (type.executor == run::ExecutorKind::kProcess) {
    rows->Add("pythonLocation", target.python_location);
  }
  if (type.host != HostKind::kHere) {
    rows->Add("address", target.address);
    rows->Add("username", target.username);
  }
  if (type.executor == run::ExecutorKind::kContainer) {
    rows->Add("baseDockerImage", target.base_docker_image);
    rows->Add("sharedVolumes", target.shared_volumes);
    rows->Add("nvidiaDocker", target.nvidia_docker);
  }
  if (type.executor == run::ExecutorKind::kSpark) {
    rows->Add("yarnDeployMode", target.yarn_deploy_mode);
  }
  rows->Add("userManagedEnvironment", target.user_managed_environment);
  rows->AddGiven("nativeSharedDirectory", target.native_shared_directory);
}

}  // namespace

std::vector<Explanation> Explain(const Resolved& resolved) {
  Rows rows;
  rows.Add("project", resolved.project.name);
  rows.Add("project id", resolved.project.id);
  rows.rows.push_back({"project folder", ForTerminal(resolved.project.root),
                       resolved.project.has_config ? "has aml_config/" : "has no aml_config/"});
  rows.Add("run configuration", resolved.run_configuration);
  rows.Add("Target", resolved.target_name);
  rows.Add("type", resolved.target.type);
  rows.Add("Framework",
           {std::string(FrameworkName(resolved.framework.value)), resolved.framework.origin});
  if (!resolved.script.value.empty()) rows.Add("script", resolved.script);
  if (!resolved.script.value.empty())
    rows.rows.push_back(
        {"arguments", Words(resolved.arguments.value), resolved.arguments.origin.Text()});
  const TargetType* type = FindTargetType(resolved.target.type.value);
  if (type != nullptr) AddMachine(resolved.target, *type, &rows);
  for (const auto& [name, setting] : resolved.environment) {
    rows.Add("EnvironmentVariables." + ForTerminal(name), setting);
  }
  rows.Add("TrackedRun", resolved.tracked_run);
  if (type != nullptr && !type->user_python) {
    rows.Add("PrepareEnvironment", resolved.prepare_environment);
    rows.Add("CondaDependenciesFile", resolved.conda_file);
  }
  if (resolved.framework.value == Framework::kPySpark) {
    rows.Add("SparkDependenciesFile", resolved.spark_file);
  }
  return std::move(rows.rows);
}

}  // namespace tenon::project
