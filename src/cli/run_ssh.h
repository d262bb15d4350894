// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_RUN_SSH_H_
#define TENON_CLI_RUN_SSH_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ssh_machine.h"

namespace tenon::cli {

// A command's words as one line for whatever shell a login has.
std::string QuotedCommand(const std::vector<std::string>& words);

// Runs ssh to a reached machine on our own standard streams, over the shared connection: `options`
// go in front (-t, -L …), `words` are the command there (none: a login shell). Returns its exit
// code.
Result<int> RunSsh(engine::SshMachine& machine, const std::vector<std::string>& options,
                   const std::vector<std::string>& words);

}  // namespace tenon::cli

#endif  // TENON_CLI_RUN_SSH_H_
