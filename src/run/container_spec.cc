// SPDX-License-Identifier: Apache-2.0
#include "run/container_spec.h"

#include "run/members.h"

namespace tenon::run {

json::Object ContainerSpec::ToJson() const {
  json::Object o;
  o["image"] = ToJsonText(image);
  o["image_where"] = ToJsonText(image_where);
  o["shared_volumes"] = shared_volumes;
  if (nvidia_docker) o["nvidia_docker"] = *nvidia_docker;
  o["gpus"] = ToJsonText(gpus);
  o["gpus_from_option"] = gpus_from_option;
  o["gpu_where"] = ToJsonText(gpu_where);
  o["memory_bytes"] = memory_bytes;
  o["nano_cpus"] = nano_cpus;
  o["shm_bytes"] = shm_bytes;
  o["ulimits"] = ToJsonTexts(ulimits);
  o["read_only_root"] = read_only_root;
  o["network"] = ToJsonText(network);
  return o;
}

Result<ContainerSpec> ContainerSpec::FromJson(const json::Object& object) {
  ContainerSpec spec;
  Members members(object);
  members.Read("image", spec.image);
  members.Read("image_where", spec.image_where);
  members.Read("shared_volumes", spec.shared_volumes);
  members.Read("nvidia_docker", spec.nvidia_docker);
  members.Read("gpus", spec.gpus);
  members.Read("gpus_from_option", spec.gpus_from_option);
  members.Read("gpu_where", spec.gpu_where);
  members.Read("memory_bytes", spec.memory_bytes);
  members.Read("nano_cpus", spec.nano_cpus);
  members.Read("shm_bytes", spec.shm_bytes);
  members.Read("ulimits", spec.ulimits);
  members.Read("read_only_root", spec.read_only_root);
  members.Read("network", spec.network);
  if (spec.memory_bytes < 0) members.Fail("memory_bytes", "a number, not negative");
  if (spec.nano_cpus < 0) members.Fail("nano_cpus", "a number, not negative");
  if (spec.shm_bytes < 0) members.Fail("shm_bytes", "a number, not negative");
  Status status = members.status();
  if (!status.ok()) return std::move(status).error().Wrap("container");
  return spec;
}

}  // namespace tenon::run
