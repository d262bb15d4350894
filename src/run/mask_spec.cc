// SPDX-License-Identifier: Apache-2.0
#include "run/mask_spec.h"

#include <utility>

namespace tenon::run {

RunSpec MaskSpec(RunSpec spec, const Masker& masker) {
  if (masker.empty()) return spec;
  for (std::string& argument : spec.arguments) argument = masker.Mask(argument);
  for (auto& [name, value] : spec.parameters) value = masker.Mask(value);
  for (auto& [name, value] : spec.environment) value = masker.Mask(value);
  return spec;
}

}  // namespace tenon::run
