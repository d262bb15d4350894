// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_TARGETS_KNOWN_HOSTS_H_
#define TENON_CLI_TARGETS_KNOWN_HOSTS_H_

#include <vector>

#include "base/result.h"
#include "engine/host/hosts.h"
#include "run/layout.h"

namespace tenon::cli {

// The machines that this home knows. Leaves out machines whose record is damaged, and warns about
// each on standard error.
Result<std::vector<engine::HostRecord>> KnownHosts(const run::Home& home);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_KNOWN_HOSTS_H_
