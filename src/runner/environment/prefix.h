// SPDX-License-Identifier: Apache-2.0
// Looking at a finished prefix: what is in it, how large it is; and copying one.
#ifndef TENON_RUNNER_ENVIRONMENT_PREFIX_H_
#define TENON_RUNNER_ENVIRONMENT_PREFIX_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::runner {

// What the metadata of a virtual environment or conda prefix says, read without starting anything;
// sorted by name. Damaged entries are left out.
std::vector<run::InstalledPackage> ListInstalled(const std::string& prefix);

// Bytes of its files, symlinks not followed.
uint64_t TreeBytes(const std::string& folder);

// Files, folders and symlinks with their permission bits. `to` is made. `stop`: kUnavailable.
Status CopyTree(const std::string& from, const std::string& to, const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_PREFIX_H_
