// SPDX-License-Identifier: Apache-2.0
// The configuration of our containers, as the engine wants it. No I/O.
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

// Paths inside a container. Only the container's root can enter kPrivate. So it is for our init
// alone: the script is another user wherever the engine allows that.
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
  std::vector<std::string> command;  // program and arguments; always our program
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Mount> mounts;
  std::vector<std::pair<std::string, std::string>> tmpfs;  // path → mount options
  std::vector<std::string> volumes;                        // anonymous ones, removed with it
  Environment env;  // no secrets: users of the engine can read it
  run::ContainerSpec limits;
  bool rootless = false;
  std::vector<std::string> engine_limits;  // what this engine needs; the target's ulimits win
  bool pinned_memory = false;              // for GPUs: no limit on locked memory, a large stack
  int64_t machine_memory_bytes = 0;        // 0: not known
};

// The body of the engine's "create" call. Every container starts as root (our init gives that up
// for the script), without new privileges, without a log of the engine's (the journal has it all),
// with standard input open. Shared memory is half of the machine's memory unless the target sets
// it, as /dev/shm outside of containers: data loaders with several processes pass their batches
// through it. Fails with kInvalid when a limit cannot be parsed.
Result<json::Object> ContainerConfig(const ContainerPlan& plan);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CONTAINER_CONFIG_H_
