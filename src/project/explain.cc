// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/text.h"
#include "project/attach.h"
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
  // Adds the row only when the setting is given or has a value.
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

std::string Bytes(int64_t bytes) {
  for (const auto& [shift, suffix] : {std::pair(30, "g"), std::pair(20, "m"), std::pair(10, "k")}) {
    if (bytes % (int64_t{1} << shift) == 0) return std::to_string(bytes >> shift) + suffix;
  }
  return std::to_string(bytes) + "b";
}

std::string Cpus(int64_t nano) {
  std::string text = std::to_string(nano / 1'000'000'000);
  std::string rest = std::to_string(nano % 1'000'000'000 + 1'000'000'000).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return rest.empty() ? text : text + "." + rest;
}

void AddLimits(const Target& target, Rows* rows) {
  const auto add = [&](const char* name, const auto& setting, const std::string& value) {
    if (setting.given()) rows->Add(name, Setting<std::string>{value, setting.origin});
  };
  add("memory", target.memory_bytes, Bytes(target.memory_bytes.value));
  add("cpus", target.nano_cpus, Cpus(target.nano_cpus.value));
  add("shmSize", target.shm_bytes, Bytes(target.shm_bytes.value));
  add("ulimits", target.ulimits, Join(target.ulimits.value, ", "));
  add("network", target.network, target.network.value);
  if (target.read_only_root.given()) rows->Add("readOnlyRoot", target.read_only_root);
}

void AddMachine(const Resolved& resolved, const TargetType& type, Rows* rows) {
  const Target& target = resolved.target;
  if (type.HasKey("pythonLocation")) {
    rows->Add("pythonLocation", target.python_location);
  }
  if (type.host != HostKind::kHere) {
    rows->Add("address", target.address);
    rows->Add("username", target.username);
    if (target.port.given()) {
      rows->Add("port",
                Setting<std::string>{std::to_string(target.port.value), target.port.origin});
    }
    rows->AddGiven("tenonDirectory", target.tenon_directory);
  }
  if (type.HasKey("baseDockerImage")) {
    Setting<std::string> image = target.base_docker_image;
    if (image.value.empty()) image.value = kDefaultImage;
    rows->Add("baseDockerImage", image);
    rows->Add("sharedVolumes", target.shared_volumes);
    rows->Add("nvidiaDocker", target.nvidia_docker);
    rows->AddGiven("gpus", resolved.gpus);
    AddLimits(target, rows);
  }
  if (type.HasKey("yarnDeployMode")) {
    rows->Add("yarnDeployMode", target.yarn_deploy_mode);
  }
  if (target.setup.given()) {
    rows->Add("setup", Setting<std::string>{Join(target.setup.value, "; "), target.setup.origin});
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
  if (type != nullptr) AddMachine(resolved, *type, &rows);
  for (const auto& [name, setting] : resolved.environment) {
    rows.Add("EnvironmentVariables." + ForTerminal(name), setting);
  }
  rows.Add("TrackedRun", resolved.tracked_run);
  if (resolved.managed_environment) {
    rows.Add("PrepareEnvironment", resolved.prepare_environment);
    rows.Add("CondaDependenciesFile", resolved.conda_file);
  }
  if (resolved.framework.value == Framework::kPySpark) {
    rows.Add("SparkDependenciesFile", resolved.spark_file);
  }
  return std::move(rows.rows);
}

}  // namespace tenon::project
