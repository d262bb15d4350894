// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_MASK_SPEC_H_
#define TENON_RUN_MASK_SPEC_H_

#include "base/mask.h"
#include "run/spec.h"

namespace tenon::run {

// The spec as it may be written down: no secret value in its arguments, parameters,
// environment, setup lines or shared folder.
RunSpec MaskSpec(RunSpec spec, const Masker& masker);

}  // namespace tenon::run

#endif  // TENON_RUN_MASK_SPEC_H_
