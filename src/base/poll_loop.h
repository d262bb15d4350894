// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_POLL_LOOP_H_
#define TENON_BASE_POLL_LOOP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// One poll(2) loop per program: descriptors, timers and signals become calls on one thread.
// Callbacks may add and remove anything, themselves included. Not thread-safe.
class PollLoop {
 public:
  using TimerId = uint64_t;

  PollLoop() = default;
  PollLoop(const PollLoop&) = delete;
  PollLoop& operator=(const PollLoop&) = delete;
  ~PollLoop();

  // Calls `on_ready` whenever `fd` is readable or hung up, until RemoveFd. The loop does not own fd.
  // Descriptors are served in the order they were added.
  void AddFd(int fd, std::function<void()> on_ready);
  void RemoveFd(int fd);

  // Calls once, at or after now + delay (monotonic).
  TimerId AddTimer(int64_t delay_us, std::function<void()> on_time);
  void RemoveTimer(TimerId id);  // already fired or unknown: nothing happens

  // Blocks these signals for the thread and delivers them as calls. Once per loop.
  Status HandleSignals(std::vector<int> signals, std::function<void(int signal)> on_signal);

  // Runs until Stop(). RunOnce waits for at most `max_wait_us` (-1: for ever) and serves what is ready.
  void Run();
  void RunOnce(int64_t max_wait_us);
  void Stop() { stopped_ = true; }

 private:
  struct Timer {
    int64_t due_us;
    std::function<void()> on_time;
  };
  struct Watch {
    int fd;
    std::function<void()> on_ready;
  };
  std::vector<Watch> watches_;
  std::map<TimerId, Timer> timers_;
  TimerId next_timer_ = 1;
  UniqueFd signal_fd_;
  bool stopped_ = false;
};

}  // namespace tenon

#endif  // TENON_BASE_POLL_LOOP_H_
