// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/known_hosts.h"

#include <string>

#include "base/file.h"
#include "base/terminal.h"
#include "cli/print/print.h"

namespace tenon::cli {

Result<std::vector<engine::HostRecord>> KnownHosts(const run::Home& home) {
  std::vector<std::string> unreadable;
  TENON_TRY(auto hosts, engine::ListHosts(home, &unreadable));
  for (const std::string& id : unreadable) {
    PrintErr("warning: what is known of a machine can't be read, " +
             OneLine(JoinPath(home.hosts(), id + ".json")) +
             " (delete the file and attach the target again)\n");
  }
  return hosts;
}

}  // namespace tenon::cli
