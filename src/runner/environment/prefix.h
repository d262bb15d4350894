// SPDX-License-Identifier: Apache-2.0
// Inspects a finished prefix (its packages, its size) and copies one.
#ifndef TENON_RUNNER_ENVIRONMENT_PREFIX_H_
#define TENON_RUNNER_ENVIRONMENT_PREFIX_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::runner {

// Reads the metadata of a virtual environment or conda prefix without starting a program. Sorted by
// name. Leaves out damaged entries.
std::vector<run::InstalledPackage> ListInstalled(const std::string& prefix);

// Total size of its files. Does not follow symlinks; 0 for a folder that cannot be read.
uint64_t TreeBytes(const std::string& folder);

// Copies files, folders and symlinks with their permission bits. Creates `to`. kUnavailable when
// `stop` is set.
Status CopyTree(const std::string& from, const std::string& to, const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_PREFIX_H_
