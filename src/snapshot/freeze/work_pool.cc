// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/work_pool.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace tenon::snapshot {
namespace {

constexpr uint64_t kWeightPerHelper = 256;

int ThreadsFor(int asked) {
  if (asked > 0) return asked;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

// An exception that leaves a helper's thread would end the program.
Status RunTask(const std::function<Status()>& task) {
  try {
    return task();
  } catch (const std::bad_alloc&) {
    return Unavailable("there is not enough memory");
  }
}

}  // namespace

WorkPool::WorkPool(int threads) : max_threads_(ThreadsFor(threads)) {}

WorkPool::~WorkPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void WorkPool::Add(std::function<Status()> task, uint64_t weight) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (error_ || stopping_) return;
  tasks_.push_back(std::move(task));
  weight_ += weight;
  const size_t helpers = helpers_.size();
  if (static_cast<int>(helpers) + 1 < max_threads_ && weight_ > (helpers + 1) * kWeightPerHelper) {
    try {
      helpers_.emplace_back([this] { Help(); });
    } catch (const std::system_error&) {
      // No more threads available: the existing ones do the work.
    }
  }
  changed_.notify_one();
}

void WorkPool::RunOne(std::unique_lock<std::mutex>* lock) {
  std::function<Status()> task = std::move(tasks_.back());
  tasks_.pop_back();
  ++running_;
  lock->unlock();
  Status status = RunTask(task);
  task = nullptr;
  lock->lock();
  --running_;
  if (!status.ok() && !error_) {
    error_ = std::move(status).error();
    tasks_.clear();
  }
  if (running_ == 0 && tasks_.empty()) changed_.notify_all();
}

void WorkPool::Help() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (tasks_.empty()) {
      changed_.wait(lock);
    } else {
      RunOne(&lock);
    }
  }
}

Status WorkPool::Run(const std::function<void()>& on_pause) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (running_ > 0 || !tasks_.empty()) {
    if (tasks_.empty()) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    } else {
      RunOne(&lock);
    }
    if (!on_pause) continue;
    lock.unlock();
    on_pause();
    lock.lock();
  }
  if (error_) return *error_;
  return {};
}

}  // namespace tenon::snapshot
