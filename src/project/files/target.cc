// SPDX-License-Identifier: Apache-2.0
#include "project/files/target.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "project/files/container_keys.h"
#include "project/files/host_keys.h"
#include "project/types.h"

namespace tenon::project {
namespace {

constexpr Key kKeys[] = {
    {"type", Expected::kText},
    {"nativeSharedDirectory", Expected::kText},
    {"baseDockerImage", Expected::kText},
    {"sharedVolumes", Expected::kBool},
    {"pythonLocation", Expected::kText},
    {"address", Expected::kText, true},
    {"username", Expected::kText, true},
    {"password", Expected::kText, true},
    {"port", Expected::kText},
    {"setup", Expected::kList},
    {"whenIdle", Expected::kMap},
    {"tenonDirectory", Expected::kText},
    {"sparkSubmitLocation", Expected::kText},
    {"nvidiaDocker", Expected::kBool},
    {"userManagedEnvironment", Expected::kBool},
    {"yarnDeployMode", Expected::kText},
    {"gpus", Expected::kAnything},
    {"memory", Expected::kText},
    {"cpus", Expected::kText},
    {"shmSize", Expected::kText},
    {"ulimits", Expected::kList},
    {"readOnlyRoot", Expected::kBool},
    {"network", Expected::kText},
    {"cluster", Expected::kBool},
    {"native", Expected::kBool},
};

Result<Setting<std::string>> ReadType(const SettingsFile& file) {
  if (const yaml::Node* node = file.Find("type")) {
    if (FindTargetType(node->text) != nullptr) return file.Text("type", "");
    const std::vector<std::string> names = TargetTypeNames();
    const auto near = DidYouMean(node->text, names);
    return file.ErrorAt(*node, "type: there is no type `" + ForTerminal(node->text) + "`")
        .WithHint(near ? "did you mean `" + file.Line("type", *near) + "`?"
                       : "types are " + Join(names, ", "));
  }
  // Files of spring 2017 have no type; `cluster` says whether the target is a Spark cluster.
  if (file.Find("cluster") != nullptr) {
    const Setting<bool> cluster = file.Bool("cluster", false);
    return Setting<std::string>{cluster.value ? "cluster" : "virtualmachine", cluster.origin};
  }
  return file.Missing("type", "", "local");
}

Target BuiltIn(std::string_view name) {
  Target target;
  target.name = name;
  target.type = {name == "local" ? "local" : "localdocker", Origin::BuiltIn()};
  target.python_location = {"python", Origin::Default()};
  target.yarn_deploy_mode.value = "cluster";
  target.spark_submit_location.value = "spark-submit";
  target.shared_volumes.value = true;
  target.user_managed_environment.value = name == "local";
  return target;
}

// Reads a value with `parse`. An error points at the value in the file.
template <typename T, typename Parse>
Status ReadValue(const SettingsFile& file, std::string_view key, Parse parse, Setting<T>* out) {
  const yaml::Node* node = file.Find(key);
  if (node == nullptr) return {};
  Result<T> value = parse(node->text);
  if (!value.ok()) return file.ErrorAt(*node, value.error().message).WithHint(value.error().hint);
  *out = {std::move(value).value(), file.OriginOf(*node)};
  return {};
}

Status ReadGpus(const SettingsFile& file, Target* target) {
  const yaml::Node* node = file.Find("gpus");
  if (node == nullptr || node->kind != yaml::Kind::kList) {
    if (node != nullptr && !node->scalar()) {
      return file.ErrorAt(*node, "gpus: expected all, none, a number or a list of UUIDs");
    }
    return ReadValue(file, "gpus", ParseGpus, &target->gpus);
  }
  std::vector<std::string> ids;
  for (const yaml::Node& item : node->children) {
    Result<std::string> id = ParseGpuId(item.text);
    if (!id.ok()) return file.ErrorAt(item, id.error().message).WithHint(id.error().hint);
    ids.push_back(std::move(id).value());
  }
  target->gpus = {ids.empty() ? "none" : Join(ids, ","), file.OriginOf(*node)};
  return {};
}

// Reads each item of a list with `parse`.
template <typename Parse>
Status ReadList(const SettingsFile& file, std::string_view key, Parse parse,
                Setting<std::vector<std::string>>* out) {
  const yaml::Node* list = file.Find(key);
  if (list == nullptr) return {};
  out->origin = file.OriginOf(*list);
  for (const yaml::Node& item : list->children) {
    Result<std::string> value = parse(item.text);
    if (!value.ok()) return file.ErrorAt(item, value.error().message).WithHint(value.error().hint);
    out->value.push_back(std::move(value).value());
  }
  return {};
}

// Reads {after: 30m, run: COMMAND}. Both members are required.
Status ReadWhenIdle(const SettingsFile& file, Target* target) {
  const yaml::Node* map = file.Find("whenIdle");
  if (map == nullptr) return {};
  for (const yaml::Node& member : map->children) {
    const Status good = CheckHostKey("whenIdle", member.key, member.text);
    if (!good.ok()) {
      return file.ErrorAt(member, good.error().message).WithHint(good.error().hint);
    }
  }
  for (const char* name : {"after", "run"}) {
    if (map->Find(name) != nullptr) continue;
    return file.ErrorAt(*map, "whenIdle: `" + std::string(name) + "` is missing")
        .WithHint("write `whenIdle: {after: 30m, run: sudo shutdown -h now}`");
  }
  TENON_TRY(const int64_t after, ParseIdleAfter(map->Find("after")->text));
  target->idle_after_us = {after, file.OriginOf(*map)};
  target->idle_command = map->Find("run")->text;
  return {};
}

Status ReadHostKeys(const SettingsFile& file, Target* target) {
  TENON_TRY_VOID(ReadValue(file, "port", ParsePort, &target->port));
  TENON_TRY_VOID(ReadValue(file, "tenonDirectory", ParseTenonDirectory, &target->tenon_directory));
  TENON_TRY_VOID(ReadList(file, "setup", ParseSetupLine, &target->setup));
  return ReadWhenIdle(file, target);
}

Status ReadContainerKeys(const SettingsFile& file, Target* target) {
  TENON_TRY_VOID(ReadGpus(file, target));
  TENON_TRY_VOID(ReadValue(file, "memory", ParseMemory, &target->memory_bytes));
  TENON_TRY_VOID(ReadValue(file, "cpus", ParseCpus, &target->nano_cpus));
  TENON_TRY_VOID(ReadValue(file, "shmSize", ParseShmSize, &target->shm_bytes));
  TENON_TRY_VOID(ReadList(file, "ulimits", ParseUlimit, &target->ulimits));
  TENON_TRY_VOID(ReadValue(file, "network", ParseNetwork, &target->network));
  target->read_only_root = file.Bool("readOnlyRoot", false);
  return {};
}

// Notes settings that SSH needs and that are missing or placeholders.
void NoteUnfinished(const SettingsFile& file, Target* target) {
  const auto look = [&](std::string_view key, const Setting<std::string>& setting,
                        std::string_view hint) {
    if (!IsPlaceholder(setting.value)) return;
    target->unfinished.push_back(
        file.ErrorAt(*file.Find(key),
                     std::string(key) + ": `" + ForTerminal(setting.value) + "` is to be filled in")
            .WithHint(std::string(hint)));
  };
  if (target->address.value.empty()) {
    const bool wrong = !target->wrong_types.empty();
    if (!wrong) target->unfinished.push_back(file.Missing("address", "", "203.0.113.7"));
  }
  look("address", target->address, "write the name or the IP address of the machine");
  look("username", target->username, "write the name of your user on that machine");
}

}  // namespace

std::span<const Key> TargetKeys() { return kKeys; }

Error NoSuchTarget(const Project& project, std::string_view name) {
  std::vector<std::string> names;
  for (const TargetEntry& entry : ListTargets(project)) names.push_back(entry.name);
  const auto near = DidYouMean(std::string(name), names);
  return NotFound("there is no target `" + ForTerminal(name) + "`")
      .WithHint(near ? "did you mean `" + *near + "`?" : "there are: " + Join(names, ", "));
}

Result<Target> ReadTarget(const Project& project, std::string_view name) {
  const std::optional<std::string> path = ConfigFile(project, name, ".compute");
  if (!path) {
    if (IsBuiltInTarget(name)) return BuiltIn(name);
    return NoSuchTarget(project, name);
  }
  TENON_TRY(const SettingsFile file, SettingsFile::Load(project.root, *path, kKeys));
  Target target;
  target.name = name;
  target.file = *path;
  TENON_TRY(target.type, ReadType(file));
  const TargetType* type = FindTargetType(target.type.value);
  target.python_location = file.Text("pythonLocation", "python");
  target.native_shared_directory = file.Text("nativeSharedDirectory", "");
  target.base_docker_image = file.Text("baseDockerImage", "");
  target.address = file.Text("address", "");
  target.username = file.Text("username", "");
  target.spark_submit_location = file.Text("sparkSubmitLocation", "spark-submit");
  target.yarn_deploy_mode = file.Text("yarnDeployMode", "cluster");
  target.shared_volumes = file.Bool("sharedVolumes", true);
  target.nvidia_docker = file.Bool("nvidiaDocker", false);
  target.user_managed_environment = file.Bool("userManagedEnvironment", type->user_python);
  TENON_TRY_VOID(ReadContainerKeys(file, &target));
  TENON_TRY_VOID(ReadHostKeys(file, &target));
  target.notices = file.notices();
  const yaml::Node* password = file.document().root().Find("password");
  target.password.value = PasswordFormOf(password);
  if (password != nullptr) target.password.origin = file.OriginOf(*password);
  if (target.password.value == PasswordForm::kReference) {
    target.password_reference = Trim(password->text);
  }
  target.wrong_types = file.wrong_types();
  if (type->host == HostKind::kSsh) NoteUnfinished(file, &target);
  return target;
}

}  // namespace tenon::project
