// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_POLL_LOOP_H_
#define TENON_BASE_POLL_LOOP_H_

#include <signal.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

  // Calls `on_ready` whenever `fd` is readable or hung up, until RemoveFd. The loop does not own
  // `fd`; the caller removes it before closing it. Descriptors are served in the order they were
  // added.
  void AddFd(int fd, std::function<void()> on_ready);
  void RemoveFd(int fd);
  // Ignores `fd` for `us` microseconds. It keeps its place in the order.
  void RestFd(int fd, int64_t us);

  // Calls `on_time` once, at or after now + delay (monotonic).
  TimerId AddTimer(int64_t delay_us, std::function<void()> on_time);
  void RemoveTimer(TimerId id);  // already fired or unknown: nothing happens

  // Blocks these signals for the calling thread until the loop is destroyed, and delivers them as
  // calls. At most once per loop. Each round serves descriptors first, then signals, then timers.
  Status HandleSignals(const std::vector<int>& signals, std::function<void(int signal)> on_signal);

  // Run() goes on until a callback calls Stop(), and finishes the round it is in. RunOnce() waits
  // for at most `max_wait_us` (-1: for ever) and serves what is ready.
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
    uint64_t id;  // never used twice; numbers of descriptors are
    std::shared_ptr<std::function<void()>> on_ready;
    int64_t rests_until_us = 0;
  };
  int64_t TimeToWait(int64_t now_us, int64_t max_wait_us) const;
  void ServeFd(uint64_t id);
  void ServeSignals();
  void ServeTimers();

  std::vector<Watch> watches_;
  uint64_t next_watch_ = 1;
  std::map<TimerId, Timer> timers_;
  TimerId next_timer_ = 1;
  UniqueFd signal_fd_;
  sigset_t mask_before_;
  std::function<void(int)> on_signal_;
  bool stopped_ = false;
};

}  // namespace tenon

#endif  // TENON_BASE_POLL_LOOP_H_
