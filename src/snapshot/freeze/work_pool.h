// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_FREEZE_WORK_POOL_H_
#define TENON_SNAPSHOT_FREEZE_WORK_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace tenon::snapshot {

// Tasks that may add tasks, run by the calling thread and a few helpers. The newest task goes
// first, so a walk goes down before it goes on and keeps few folders open. Helpers are started only
// when there is enough to do: a small job never pays for a thread.
class WorkPool {
 public:
  // `threads`: the caller's included; 0: as many as cores, at most 8.
  explicit WorkPool(int threads);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // From any thread. `weight`: about how many files it deals with. After an error tasks are
  // dropped.
  void Add(std::function<Status()> task, uint64_t weight);

  // Runs everything that was and will be added; the first error. `on_pause` is called on the
  // calling thread now and then. Once.
  Status Run(const std::function<void()>& on_pause);

 private:
  void Help();
  // Runs one task; `lock` is held before and after.
  void RunOne(std::unique_lock<std::mutex>* lock);

  const int max_threads_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<std::function<Status()>> tasks_;
  uint64_t running_ = 0;
  uint64_t weight_ = 0;
  bool stopping_ = false;
  std::optional<Error> error_;
  std::vector<std::thread> helpers_;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_WORK_POOL_H_
