// SPDX-License-Identifier: Apache-2.0
// The versions that an environment had when it was last made on this host, so that making it again
// gives the same versions. <home>/pins/<key>.txt is a constraints file for pip and uv. It is kept
// when the environment is removed; `--refresh` ignores it.
#ifndef TENON_RUNNER_ENVIRONMENT_PINS_H_
#define TENON_RUNNER_ENVIRONMENT_PINS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::runner {

std::string PinsFile(const std::string& home, const std::string& key);
// Saves the versions of packages from an index. Packages from a channel or an address are not
// pinned.
Status SavePins(const std::string& home, const std::string& key,
                const std::vector<run::InstalledPackage>& installed);
// Adds `file`, the path of the pins as the tools see it, to the options of `packages`. Does nothing
// when `file` is "" or the packages come from a uv.lock.
void ApplyPins(const std::string& file, run::Packages* packages);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_PINS_H_
