// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENVIRONMENT_KEY_H_
#define TENON_ENVIRONMENT_KEY_H_

#include <string>
#include <string_view>

#include "run/packages.h"

namespace tenon::environment {

// The name of an environment: 32 hex digits, equal for all projects that ask for the same packages
// on the same base. The order of packages, blanks, the case of names, comments and line numbers
// don't count. The order of channels and options counts, because their meaning depends on it.
// `base_id` is the id of an image, or a text that tells one interpreter from another. `platform` is
// like "linux-x86_64".
std::string EnvironmentKey(const run::Packages& packages, const std::string& base_id,
                           const std::string& platform);

// Returns an item without differences that mean nothing: "NumPy == 1.0 " and "numpy==1.0" give the
// same text. Addresses and paths are only trimmed.
std::string NormalisePip(std::string_view text);
std::string NormaliseConda(std::string_view text);
// Returns a name as indexes compare names: lower case, runs of "-_." become one "-".
std::string NormaliseName(std::string_view name);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_KEY_H_
