// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENVIRONMENT_KEY_H_
#define TENON_ENVIRONMENT_KEY_H_

#include <string>
#include <string_view>

#include "run/packages.h"

namespace tenon::environment {

// The name of an environment: 32 hex digits, equal for all that ask for the same thing on the same
// base. Order of packages, blanks, the case of names, comments and the lines they stand on don't
// count; the order of channels and options does, because their meaning depends on it. `base_id` is
// an image's id, or what tells one interpreter from another; `platform` as "linux-x86_64".
std::string EnvironmentKey(const run::Packages& packages, const std::string& base_id,
                           const std::string& platform);

// One item without what has no meaning: "NumPy == 1.0 " and "numpy==1.0" give the same. Addresses
// and paths are only trimmed.
std::string NormalisePip(std::string_view text);
std::string NormaliseConda(std::string_view text);
// As indexes compare names: lower case, runs of "-_." become one "-".
std::string NormaliseName(std::string_view name);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_KEY_H_
