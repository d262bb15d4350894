// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_EXECUTOR_H_
#define TENON_EXECUTOR_EXECUTOR_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "run/event.h"
#include "run/spec.h"

namespace tenon::executor {

struct ExecRequest {
  std::vector<std::string> argv;
  std::string cwd;
  Environment env;  // TENON_RUN_KEY is added
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::string run_key;              // UUID
  std::optional<Credentials> user;  // of a process; absent: ours

  // Of a container that has been made and not started.
  run::ContainerMade container;
  std::string input;    // what its init is told, on its standard input; holds secrets
  std::string segment;  // the file that its init writes, given to it at the folder `door`
  std::string door;
  // The engine has refused to start it: another one that it may like better, if there is one.
  std::function<Result<std::optional<run::ContainerMade>>(const Error& refused)> remake;
};

struct Exit {
  ExitStatus status;
  int64_t peak_rss_bytes = 0;
  bool out_of_memory = false;  // the kernel says that it killed something of the run for memory
  std::string remark;  // of a container whose init has not told the end: what is known of it
};

// How a runner starts a script and knows everything that came of it. One object per run; calls from
// one thread. Start() is called once.
class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the script with standard input from /dev/null. An Error means that nothing runs.
  virtual Result<pid_t> Start(const ExecRequest& request) = 0;

  // Takes over what another runner has started; instead of Start(). kInvalid where what a runner
  // started ends with it.
  virtual Status Adopt(const run::ContainerMade& container);

  // Whether an init of the script's own records its output, metrics and exit.
  virtual bool has_own_init() const { return false; }
  // Becomes readable when Reap() may have something to say; -1: SIGCHLD tells. May change with each
  // call of Reap().
  virtual int event_fd() const { return -1; }

  // Sends a signal to every process of the run that can be found, once each. Nobody there: nothing
  // happens.
  virtual void Signal(int signal) = 0;

  // How the script ended, once; nullopt while it runs and ever after. Never waits. Call it when the
  // program gets SIGCHLD (repeats are harmless); it also takes leave of the script's orphans.
  virtual std::optional<Exit> Reap() = 0;

  // Processes of the run that are still there, the script included.
  virtual int64_t CountLeft() = 0;

  // Ends every process of the run and says how sure that is. Waits for at most some seconds. With
  // nobody left it only looks. `thorough` looks at every process of the machine, else at what is
  // known to be complete already.
  virtual run::Proof EndAll(bool thorough) = 0;

  // Removes a container of the run, also one that was made and never given to Start(): everything
  // has been fetched from it, or it will not be started. Repeatable. An Error: it may still be
  // there.
  virtual Status Release(const run::ContainerMade& container);

  virtual pid_t pid() const = 0;           // of the script, 0 before Start
  virtual std::string cgroup() const = 0;  // folder of the run's own cgroup, "" = none
};

// The table from a spec to its executor. kInvalid for kinds this version does not have.
Result<std::unique_ptr<Executor>> MakeExecutor(run::ExecutorKind kind);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_EXECUTOR_H_
