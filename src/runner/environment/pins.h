// SPDX-License-Identifier: Apache-2.0
// The versions an environment had when it was last made here, so that making it again gives the
// same: <home>/pins/<key>.txt, constraints as pip and uv read them. Kept when the environment is
// removed; `--refresh` does without.
#ifndef TENON_RUNNER_ENVIRONMENT_PINS_H_
#define TENON_RUNNER_ENVIRONMENT_PINS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::runner {

std::string PinsFile(const std::string& home, const std::string& key);
// Of packages from an index; what came from a channel or an address is not pinned by version.
Status SavePins(const std::string& home, const std::string& key,
                const std::vector<run::InstalledPackage>& installed);
// Makes packages ask for the pinned versions; `file` is where the tools see it. "": as they are.
void ApplyPins(const std::string& file, run::Packages* packages);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_PINS_H_
