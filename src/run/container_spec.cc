// SPDX-License-Identifier: Apache-2.0
#include "run/container_spec.h"

#include "run/described.h"

namespace tenon::run {

json::Object ContainerSpec::ToJson() const { return ToJsonObject(*this); }

Result<ContainerSpec> ContainerSpec::FromJson(const json::Object& object) {
  auto spec = FromJsonObject<ContainerSpec>(object);
  if (!spec.ok()) return std::move(spec).error().Wrap("container");
  return spec;
}

void ContainerSpec::Check(Members& in) const {
  if (memory_bytes < 0) in.Fail("memory_bytes", "a number, not negative");
  if (nano_cpus < 0) in.Fail("nano_cpus", "a number, not negative");
  if (shm_bytes < 0) in.Fail("shm_bytes", "a number, not negative");
}

}  // namespace tenon::run
