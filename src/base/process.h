// SPDX-License-Identifier: Apache-2.0
// Starts programs and recognizes them later. A process is named by pid + start time + boot id,
// because another process may get the same pid later.
#ifndef TENON_BASE_PROCESS_H_
#define TENON_BASE_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/fields.h"
#include "base/result.h"

namespace tenon {

using Environment = std::map<std::string, std::string>;
Environment CurrentEnvironment();
// The variable's value; `otherwise` when it is not set.
std::string GetVariable(const Environment& environment, const std::string& name,
                        const std::string& otherwise = "");

// Who a process is.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};
// The effective ids of the calling process.
Credentials OurCredentials();
// Makes the calling process another user's, for good. Async-signal-safe; returns 0 or errno.
int BecomeUser(const Credentials& user);

struct SpawnOptions {
  std::vector<std::string> argv;  // argv[0] is looked up on `env`'s PATH unless it has a slash
  Environment env;
  std::string cwd;                  // empty: ours
  int stdin_fd = -1;                // -1: /dev/null
  int stdout_fd = -1;               // -1: ours
  int stderr_fd = -1;               // -1: ours
  bool new_session = false;         // setsid: own session and process group
  std::optional<Credentials> user;  // absent: ours
  std::function<pid_t()> fork;      // instead of fork(2), for a child with special properties
  std::function<void()> in_child;   // runs after fork, before exec; async-signal-safe calls only
};

// Starts a program. The caller waits for it. Failure to exec (not found, not executable, bad cwd)
// is an Error here, not an exit code later. All our other descriptors are closed in the child
// (close-on-exec); its signals are reset to default and unblocked.
Result<pid_t> Spawn(const SpawnOptions& options);

// How a child ended.
struct ExitStatus {
  int code = 0;    // exit code when signal == 0
  int signal = 0;  // the signal that ended it, else 0
  int AsShell() const { return signal ? 128 + signal : code; }
};
Result<ExitStatus> Wait(pid_t pid);
ExitStatus DecodeWaitStatus(int wait_status);  // from waitpid(2), for a process that ended

struct CaptureResult {
  ExitStatus status;
  std::string out;
  std::string err;
  bool timed_out = false;
};
// Runs a program to its end, with our environment, in a session of its own. Its standard input is
// `input`; /dev/null when that is empty. After `timeout_ms` (0: never) its process group is killed,
// and `timed_out` says so. The end is when the program has exited and its output is closed. Output
// beyond `limit` bytes per stream is dropped.
Result<CaptureResult> RunAndCapture(const std::vector<std::string>& argv, const std::string& cwd,
                                    const std::string& input = "", int timeout_ms = 0,
                                    size_t limit = 64u << 20);

// The path of an executable file, looked up on `path` (a PATH value) unless `name` has a slash.
// nullopt: none.
std::optional<std::string> FindProgram(const std::string& name, const std::string& path);

struct ProcessId {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;       // /proc/sys/kernel/random/boot_id

  static constexpr auto Fields() {
    return std::tuple(Field(1, "pid", &ProcessId::pid, FieldRule::kAlways),
                      Field(2, "start_ticks", &ProcessId::start_ticks, FieldRule::kAlways),
                      Field(3, "boot_id", &ProcessId::boot_id, FieldRule::kAlways));
  }
  bool operator==(const ProcessId&) const = default;
};
// The id of a process, also of a zombie. nullopt: no such process, or /proc cannot tell.
std::optional<ProcessId> IdentifyProcess(pid_t pid);
std::string BootId();  // empty when /proc does not tell. TENON_TEST_BOOT_ID overrides it.

enum class Liveness { kAlive, kGone, kRebooted };
// kRebooted: the machine has rebooted since, so the process cannot be alive. A zombie is kGone.
// Where /proc hides the process, any process of that pid counts as alive.
Liveness CheckProcess(const ProcessId& id);

}  // namespace tenon

#endif  // TENON_BASE_PROCESS_H_
