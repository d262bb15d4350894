// SPDX-License-Identifier: Apache-2.0
#include "run/mask_spec.h"

#include <utility>

namespace tenon::run {

RunSpec MaskSpec(RunSpec spec, const Masker& masker) {
  if (masker.empty()) return spec;
  for (std::string& argument : spec.arguments) argument = masker.Mask(argument);
  for (auto& [name, value] : spec.parameters) {
    name = masker.Mask(name);
    value = masker.Mask(value);
  }
  for (auto& [name, value] : spec.environment) value = masker.Mask(value);
  for (std::string& line : spec.setup) line = masker.Mask(line);
  spec.shared_directory = masker.Mask(spec.shared_directory);
  return spec;
}

}  // namespace tenon::run
