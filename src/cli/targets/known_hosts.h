// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_TARGETS_KNOWN_HOSTS_H_
#define TENON_CLI_TARGETS_KNOWN_HOSTS_H_

#include <vector>

#include "base/result.h"
#include "engine/host/hosts.h"
#include "run/layout.h"

namespace tenon::cli {

// The machines that are known. One whose record is damaged keeps nobody from the others: it is
// warned of on standard error and left out.
Result<std::vector<engine::HostRecord>> KnownHosts(const run::Home& home);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_KNOWN_HOSTS_H_
