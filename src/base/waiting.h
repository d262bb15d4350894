// SPDX-License-Identifier: Apache-2.0
// Waiting for locks that other processes hold: which process holds a lock, whether that process is
// stopped and so can't release it, and a listener that is told when a wait takes long.
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
// nothing until it is continued. False when there is no such process.
bool IsStopped(pid_t pid);

// Who holds a lock on a file.
struct LockHolder {
  pid_t pid = 0;
  std::string name;              // of the program, as the kernel shortens it
  bool stopped = false;          // IsStopped()
  std::string Describe() const;  // "tenon (process 4711)"
  // What to do about a stopped holder.
  std::string Hint() const;
};
// Finds a process of this machine that holds a lock on the file, by flock or by fcntl, as
// /proc/locks lists it. Of several holders it returns one that is stopped. nullopt: nobody but us,
// or a holder that we can't see (in another container, on another machine).
std::optional<LockHolder> FindLockHolder(const std::string& path);

// "PATH is locked by tenon (process 4711), which is stopped", with a hint. kUnavailable.
Error LockedByStopped(const std::string& path, const LockHolder& holder);

// For a caller that waits for a lock and tries it again and again.
class LongWait {
 public:
  explicit LongWait(std::string path) : path_(std::move(path)) {}
  // The caller calls this each time the lock is still held. Tells the listener once when the wait
  // has lasted two seconds. Fails with LockedByStopped() when the holder has been stopped for two
  // seconds.
  Status Look();

 private:
  std::string path_;
  int64_t began_us_ = 0, looked_us_ = 0, stopped_since_us_ = 0;
  bool told_ = false;
};

// Sets the listener, which gets one sentence about a wait that lasts. Without a listener nobody is
// told. Call it before the first thread is started.
void SetWaitListener(std::function<void(const std::string&)> listener);
void TellWait(const std::string& sentence);

}  // namespace tenon

#endif  // TENON_BASE_WAITING_H_
