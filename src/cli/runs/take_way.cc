// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/take_way.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/process.h"
#include "cli/print/print.h"

namespace tenon::cli {
namespace {

// Ignores Ctrl-C, which is for the program on the other side; this process waits for its end.
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

Result<int> TakeWay(const engine::WayIn& way) {
  FlushOut();
  if (!way.asks_us) {
    std::vector<char*> argv;
    for (const std::string& word : way.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    return FromErrno("starting " + way.argv[0], errno);
  }
  SpawnOptions spawn;
  spawn.argv = way.argv;
  spawn.env = way.environment.value_or(CurrentEnvironment());
  spawn.stdin_fd = STDIN_FILENO;
  const IgnoreInterrupt ignore;
  TENON_TRY(const pid_t pid, Spawn(spawn));
  TENON_TRY(const ExitStatus status, Wait(pid));
  return status.AsShell();
}

}  // namespace tenon::cli
