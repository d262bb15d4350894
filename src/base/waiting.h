// SPDX-License-Identifier: Apache-2.0
// Waiting for other processes: who it is that one waits for, whether that one can come at all, and
// somebody who is told when it takes long.
#ifndef TENON_BASE_WAITING_H_
#define TENON_BASE_WAITING_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace tenon {

// Whether a process is stopped: by a signal, at its terminal (Ctrl-Z) or by a debugger. It does
// nothing until somebody lets it go on. False for one that is not there.
bool IsStopped(pid_t pid);

// Who holds a lock on a file.
struct LockHolder {
  pid_t pid = 0;
  std::string name;              // of the program, as the system cuts it
  bool stopped = false;          // IsStopped()
  std::string Describe() const;  // "tenon (process 4711)"
  // What to do about a stopped one.
  std::string Hint() const;
};
// Of this machine, as /proc/locks has it, an flock or a lock of fcntl; of several one that is
// stopped. nullopt: nobody but us, or somebody whom we can't see (in another container, on another
// machine).
std::optional<LockHolder> FindLockHolder(const std::string& path);

// "PATH is locked by tenon (process 4711), which is stopped", with a hint. kUnavailable.
Error LockedByStopped(const std::string& path, const LockHolder& holder);

// Somebody who waits for a lock and looks again and again.
class LongWait {
 public:
  explicit LongWait(std::string path) : path_(std::move(path)) {}
  // To be called each time it is still held. Says so when it has lasted two seconds; a holder that
  // has been stopped for as long is LockedByStopped().
  Status Look();

 private:
  std::string path_;
  int64_t began_us_ = 0, looked_us_ = 0, stopped_since_us_ = 0;
  bool told_ = false;
};

// Who is told that a wait lasts, one sentence each; nobody unless set. To be set before the first
// thread is started.
void SetWaitListener(std::function<void(const std::string&)> listener);
void TellWait(const std::string& sentence);

}  // namespace tenon

#endif  // TENON_BASE_WAITING_H_
