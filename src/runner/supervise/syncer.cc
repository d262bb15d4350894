// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/syncer.h"

#include <chrono>
#include <utility>

namespace tenon::runner {
namespace {

constexpr std::chrono::seconds kPeriod(1);

}  // namespace

Syncer::Syncer(journal::Writer& writer) : writer_(writer), thread_([this] { Run(); }) {}

Syncer::~Syncer() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Syncer::MarkDirty() {
  std::lock_guard lock(mutex_);
  if (dirty_) return;
  dirty_ = true;
  changed_.notify_one();
}

void Syncer::SyncNow(std::function<void(const Status&)> done) {
  std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(done));
  changed_.notify_one();
}

void Syncer::Run() {
  std::unique_lock lock(mutex_);
  auto last = std::chrono::steady_clock::now() - kPeriod;
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || dirty_ || !waiting_.empty(); });
    changed_.wait_until(lock, last + kPeriod, [this] { return stop_ || !waiting_.empty(); });
    if (stop_ && waiting_.empty()) return;
    auto waiting = std::exchange(waiting_, {});
    dirty_ = false;
    lock.unlock();
    Status status = writer_.Sync();
    for (auto& done : waiting) done(status);
    waiting.clear();
    lock.lock();
    last = std::chrono::steady_clock::now();
  }
}

}  // namespace tenon::runner
