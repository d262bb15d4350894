// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/handover.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace tenon::runner {

Handover::Handover() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Handover::Put(run::Event event) {
  {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  Wake();
}

void Handover::Wake() {
  uint64_t word = 1;
  ssize_t ignored = ::write(event_.get(), &word, sizeof word);
  (void)ignored;
}

std::vector<run::Event> Handover::TakeAll() {
  uint64_t word = 0;
  ssize_t ignored = ::read(event_.get(), &word, sizeof word);
  (void)ignored;
  std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

}  // namespace tenon::runner
