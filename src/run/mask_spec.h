// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_MASK_SPEC_H_
#define TENON_RUN_MASK_SPEC_H_

#include "base/mask.h"
#include "run/spec.h"

namespace tenon::run {

// Returns the spec without secret values, so that it may be written down. Masks arguments,
// parameters, values of the environment, setup lines and the shared folder.
RunSpec MaskSpec(RunSpec spec, const Masker& masker);

}  // namespace tenon::run

#endif  // TENON_RUN_MASK_SPEC_H_
