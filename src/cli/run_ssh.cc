// SPDX-License-Identifier: Apache-2.0
#include "cli/run_ssh.h"

#include <signal.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/print.h"

namespace tenon::cli {
namespace {

// Ctrl-C is for the program on the other side; we wait for what it makes of it.
class IgnoreInterrupt {
 public:
  IgnoreInterrupt() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &before_);
  }
  ~IgnoreInterrupt() { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace

std::string QuotedCommand(const std::vector<std::string>& words) {
  std::string command = "exec";
  for (const std::string& word : words) command += " " + engine::QuoteForAnyShell(word);
  return command;
}

Result<int> RunSsh(engine::SshMachine& machine, const std::vector<std::string>& options,
                   const std::vector<std::string>& words) {
  TENON_TRY_VOID(machine.ssh().Connect());
  FlushOut();
  SpawnOptions spawn;
  spawn.argv = machine.ssh().CommandLine(options, words.empty() ? "" : QuotedCommand(words));
  spawn.env = machine.ssh().CommandEnvironment();
  spawn.stdin_fd = STDIN_FILENO;
  const IgnoreInterrupt ignore;
  TENON_TRY(const pid_t pid, Spawn(spawn));
  TENON_TRY(const ExitStatus status, Wait(pid));
  return status.AsShell();
}

}  // namespace tenon::cli
