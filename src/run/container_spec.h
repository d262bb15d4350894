// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_CONTAINER_SPEC_H_
#define TENON_RUN_CONTAINER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/result.h"

namespace tenon::run {

class Members;

// What a target says about the container a script runs in. A size is 0 when the target does not set
// it.
struct ContainerSpec {
  std::string image;        // baseDockerImage, or the default
  std::string image_where;  // "aml_config/docker.compute:4", for messages; "" = the default image
  bool shared_volumes = true;
  std::optional<bool> nvidia_docker;
  // "" = not set, "all", "none", a number, or UUIDs with commas between.
  std::string gpus;
  bool gpus_from_option = false;  // --gpus: wins over nvidiaDocker: false
  // The setting that asks for a GPU, for messages: "aml_config/box.compute:6: nvidiaDocker: true",
  // "--gpus all"; "" = no setting asks, but the image may.
  std::string gpu_where;
  int64_t memory_bytes = 0;
  int64_t nano_cpus = 0;  // cpus * 1e9
  int64_t shm_bytes = 0;
  std::vector<std::string> ulimits;  // "memlock=-1", "nofile=1024:4096"
  bool read_only_root = false;
  std::string network;  // "" = the engine's default; "none", "host", a name

  json::Object ToJson() const;
  static Result<ContainerSpec> FromJson(const json::Object& object);

  void Check(Members& in) const;  // for run/described.h
  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "image", &ContainerSpec::image, FieldRule::kAlways),
        Field(2, "image_where", &ContainerSpec::image_where, FieldRule::kAlways),
        Field(3, "shared_volumes", &ContainerSpec::shared_volumes, FieldRule::kAlways),
        Field(4, "nvidia_docker", &ContainerSpec::nvidia_docker),
        Field(5, "gpus", &ContainerSpec::gpus, FieldRule::kAlways),
        Field(6, "gpus_from_option", &ContainerSpec::gpus_from_option, FieldRule::kAlways),
        Field(7, "gpu_where", &ContainerSpec::gpu_where, FieldRule::kAlways),
        Field(8, "memory_bytes", &ContainerSpec::memory_bytes, FieldRule::kAlways),
        Field(9, "nano_cpus", &ContainerSpec::nano_cpus, FieldRule::kAlways),
        Field(10, "shm_bytes", &ContainerSpec::shm_bytes, FieldRule::kAlways),
        Field(11, "ulimits", &ContainerSpec::ulimits, FieldRule::kAlways),
        Field(12, "read_only_root", &ContainerSpec::read_only_root, FieldRule::kAlways),
        Field(13, "network", &ContainerSpec::network, FieldRule::kAlways));
  }
};

}  // namespace tenon::run

#endif  // TENON_RUN_CONTAINER_SPEC_H_
