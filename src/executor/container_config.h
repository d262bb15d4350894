// SPDX-License-Identifier: Apache-2.0
// What a container of ours looks like to the engine. Pure.
#ifndef TENON_EXECUTOR_CONTAINER_CONFIG_H_
#define TENON_EXECUTOR_CONTAINER_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/container_spec.h"

namespace tenon::executor {

// Inside a container. What lies below kPrivate is for our init alone: its folder can be entered by
// the container's root only, and the script is somebody else wherever the engine allows it.
inline constexpr const char* kPrivate = "/.tenon";
inline constexpr const char* kRunnerInside = "/.tenon/runner";
inline constexpr const char* kDoorInside = "/.tenon/door";  // segment_door.h
inline constexpr const char* kWorkInside = "/azureml-run";
inline constexpr const char* kShareInside = "/azureml-share/";
inline constexpr const char* kShimInside = "/usr/lib/tenon/shim";
inline constexpr const char* kMetricsInside = "/usr/lib/tenon/metrics";
inline constexpr const char* kPycacheInside = "/usr/lib/tenon/pycache";
inline constexpr const char* kHomeInside = "/home/tenon";
inline constexpr const char* kPrefixInside = "/opt/tenon/env";

struct Mount {
  std::string source;  // on the host
  std::string target;
  bool read_only = false;
};

struct ContainerPlan {
  std::string image;                 // id or name
  std::vector<std::string> command;  // program and arguments; always our own
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Mount> mounts;
  std::vector<std::pair<std::string, std::string>> tmpfs;  // path → mount options
  std::vector<std::string> volumes;                        // anonymous ones, removed with it
  Environment env;                                         // nothing secret: everybody can look
  run::ContainerSpec limits;
  bool rootless = false;
  std::vector<std::string> engine_limits;  // ulimits that the target's win over
  bool pinned_memory = false;              // for GPUs: no limit on locked memory, a large stack
  int64_t machine_memory_bytes = 0;        // 0: not known
};

// The body of the engine's "create". Always: root inside (our init gives that up for the script),
// no new privileges, no log of the engine's (the journal has it all), standard input open.
// Shared memory is half of the machine's memory unless the target says otherwise, as /dev/shm is
// outside: data loaders of several processes pass their batches through it.
// kInvalid when a limit cannot be understood.
Result<json::Object> ContainerConfig(const ContainerPlan& plan);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CONTAINER_CONFIG_H_
