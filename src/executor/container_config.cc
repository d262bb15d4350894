// SPDX-License-Identifier: Apache-2.0
#include "executor/container_config.h"

#include <charconv>
#include <map>

#include "base/text.h"

namespace tenon::executor {
namespace {

constexpr int64_t kStackBytes = 64 << 20;  // what several numeric libraries ask for
constexpr int64_t kLeastShm = 64 << 20;

struct Limit {
  int64_t soft = 0, hard = 0;
};

bool ParseNumber(std::string_view text, int64_t* out) {
  if (text == "unlimited") text = "-1";
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return code == std::errc() && end == text.data() + text.size() && !text.empty() && *out >= -1;
}

Result<std::pair<std::string, Limit>> ParseUlimit(const std::string& text) {
  const size_t equals = text.find('=');
  Limit limit;
  if (equals != std::string::npos && equals > 0) {
    std::string_view values = std::string_view(text).substr(equals + 1);
    const size_t colon = values.find(':');
    std::string_view hard = colon == std::string_view::npos ? values : values.substr(colon + 1);
    if (ParseNumber(values.substr(0, colon), &limit.soft) && ParseNumber(hard, &limit.hard)) {
      return std::pair(text.substr(0, equals), limit);
    }
  }
  return Invalid("ulimits: " + ForTerminal(text) + " is no limit")
      .WithHint("write NAME=SOFT or NAME=SOFT:HARD, as in memlock=-1 or nofile=1024:4096");
}

Result<json::Array> Ulimits(const ContainerPlan& plan) {
  std::map<std::string, Limit> limits;
  // A rootless engine can't raise a limit above what its user may have.
  if (plan.pinned_memory && !plan.rootless) {
    limits["memlock"] = {-1, -1};
    limits["stack"] = {kStackBytes, kStackBytes};
  }
  for (const auto* texts : {&plan.engine_limits, &plan.limits.ulimits}) {
    for (const std::string& text : *texts) {
      TENON_TRY(auto parsed, ParseUlimit(text));
      limits[parsed.first] = parsed.second;
    }
  }
  json::Array array;
  for (const auto& [name, limit] : limits) {
    array.push_back(json::Object{{"Name", name}, {"Soft", limit.soft}, {"Hard", limit.hard}});
  }
  return array;
}

json::Array Texts(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.push_back(json::Value(text));
  return array;
}

json::Array Mounts(const ContainerPlan& plan) {
  json::Array array;
  for (const Mount& mount : plan.mounts) {
    json::Object o{{"Type", "bind"}, {"Source", mount.source}, {"Target", mount.target}};
    if (mount.read_only) o["ReadOnly"] = true;
    array.push_back(std::move(o));
  }
  return array;
}

Result<json::Object> HostConfig(const ContainerPlan& plan) {
  const run::ContainerSpec& limits = plan.limits;
  json::Object host;
  host["Mounts"] = Mounts(plan);
  json::Object tmpfs;
  for (const auto& [path, options] : plan.tmpfs) tmpfs[path] = options;
  if (!tmpfs.empty()) host["Tmpfs"] = std::move(tmpfs);
  host["SecurityOpt"] = json::Array{"no-new-privileges", "label=disable"};
  host["LogConfig"] = json::Object{{"Type", "none"}};
  host["RestartPolicy"] = json::Object{{"Name", "no"}};
  if (limits.memory_bytes > 0) {
    host["Memory"] = limits.memory_bytes;
    host["MemorySwap"] = limits.memory_bytes;  // of memory and swap together: so no swap
  }
  if (limits.nano_cpus > 0) host["NanoCpus"] = limits.nano_cpus;
  int64_t shm = limits.shm_bytes;
  if (shm <= 0) shm = std::max(kLeastShm, plan.machine_memory_bytes / 2);
  host["ShmSize"] = shm;
  TENON_TRY(host["Ulimits"], Ulimits(plan));
  if (limits.read_only_root) host["ReadonlyRootfs"] = true;
  if (!limits.network.empty()) host["NetworkMode"] = limits.network;
  return host;
}

}  // namespace

Result<json::Object> ContainerConfig(const ContainerPlan& plan) {
  json::Object config;
  config["Image"] = plan.image;
  config["Entrypoint"] = Texts(plan.command);
  config["Cmd"] = json::Array{};
  config["User"] = "0:0";
  config["WorkingDir"] = "/";
  config["OpenStdin"] = true;
  config["StdinOnce"] = true;
  config["AttachStdin"] = true;
  config["AttachStdout"] = true;
  config["AttachStderr"] = true;
  config["Tty"] = false;
  json::Object labels;
  for (const auto& [name, value] : plan.labels) labels[name] = value;
  config["Labels"] = std::move(labels);
  json::Array env;
  for (const auto& [name, value] : plan.env) env.push_back(json::Value(name + "=" + value));
  config["Env"] = std::move(env);
  if (!plan.volumes.empty()) {
    json::Object volumes;
    for (const std::string& path : plan.volumes) volumes[path] = json::Object{};
    config["Volumes"] = std::move(volumes);
  }
  TENON_TRY(config["HostConfig"], HostConfig(plan));
  return config;
}

}  // namespace tenon::executor
