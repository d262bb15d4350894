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

// Runs tasks, which may add tasks, on the calling thread and a few helper threads. The newest task
// runs first, so a walk goes deep before it goes wide and keeps few folders open. Helpers are
// started only when there is enough work: a small job starts no thread.
class WorkPool {
 public:
  // `threads` includes the caller; 0: as many as cores, at most 8.
  explicit WorkPool(int threads);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // May be called from any thread. `weight`: about how many files the task handles. After an error,
  // added tasks are dropped.
  void Add(std::function<Status()> task, uint64_t weight);

  // Runs all tasks, including those added while it runs. Returns the first error. Calls `on_pause`
  // every so often on the calling thread. May be called once.
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
