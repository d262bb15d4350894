// SPDX-License-Identifier: Apache-2.0
#include "base/poll_loop.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"

namespace tenon {

PollLoop::~PollLoop() {
  if (signal_fd_.valid()) ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void PollLoop::AddFd(int fd, std::function<void()> on_ready) {
  TENON_CHECK(fd >= 0);
  auto same = [&](const Watch& watch) { return watch.fd == fd; };
  TENON_CHECK(std::none_of(watches_.begin(), watches_.end(), same));
  auto call = std::make_shared<std::function<void()>>(std::move(on_ready));
  watches_.push_back({fd, next_watch_++, std::move(call)});
}

void PollLoop::RemoveFd(int fd) {
  std::erase_if(watches_, [&](const Watch& watch) { return watch.fd == fd; });
}

void PollLoop::RestFd(int fd, int64_t us) {
  for (Watch& watch : watches_) {
    if (watch.fd == fd) watch.rests_until_us = SystemClock().MonotonicUs() + us;
  }
}

PollLoop::TimerId PollLoop::AddTimer(int64_t delay_us, std::function<void()> on_time) {
  int64_t due = SystemClock().MonotonicUs() + std::max<int64_t>(delay_us, 0);
  timers_[next_timer_] = {due, std::move(on_time)};
  return next_timer_++;
}

void PollLoop::RemoveTimer(TimerId id) { timers_.erase(id); }

Status PollLoop::HandleSignals(const std::vector<int>& signals,
                               std::function<void(int)> on_signal) {
  TENON_CHECK(!signal_fd_.valid());
  sigset_t set;
  sigemptyset(&set);
  for (int signal : signals) {
    if (sigaddset(&set, signal) != 0) return FromErrno("handle signals", errno);
    // A parent may have left SIGCHLD ignored to us; children then vanish without a status.
    if (signal == SIGCHLD) ::signal(SIGCHLD, SIG_DFL);
  }
  if (int failure = ::pthread_sigmask(SIG_BLOCK, &set, &mask_before_)) {
    return FromErrno("block signals", failure);
  }
  signal_fd_.Reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signal_fd_.valid()) {
    int failure = errno;
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    return FromErrno("handle signals", failure);
  }
  on_signal_ = std::move(on_signal);
  return {};
}

void PollLoop::Run() {
  stopped_ = false;
  while (!stopped_) RunOnce(-1);
}

int64_t PollLoop::TimeToWait(int64_t now_us, int64_t max_wait_us) const {
  int64_t due = INT64_MAX;
  for (const auto& [id, timer] : timers_) due = std::min(due, timer.due_us);
  for (const Watch& watch : watches_) {
    if (watch.rests_until_us > now_us) due = std::min(due, watch.rests_until_us);
  }
  if (due == INT64_MAX) return max_wait_us;
  int64_t wait = std::max<int64_t>(due - now_us, 0);
  return max_wait_us < 0 ? wait : std::min(wait, max_wait_us);
}

void PollLoop::RunOnce(int64_t max_wait_us) {
  std::vector<pollfd> fds;
  std::vector<uint64_t> ids;
  fds.reserve(watches_.size() + 1);
  ids.reserve(watches_.size());
  const int64_t now = SystemClock().MonotonicUs();
  for (const Watch& watch : watches_) {
    fds.push_back({watch.rests_until_us > now ? -1 : watch.fd, POLLIN, 0});
    ids.push_back(watch.id);
  }
  if (signal_fd_.valid()) fds.push_back({signal_fd_.get(), POLLIN, 0});

  int64_t wait = TimeToWait(now, max_wait_us);
  timespec limit{static_cast<time_t>(wait / 1'000'000), static_cast<long>(wait % 1'000'000 * 1000)};
  int ready = ::ppoll(fds.data(), fds.size(), wait < 0 ? nullptr : &limit, nullptr);
  TENON_CHECK(ready >= 0 || errno == EINTR || errno == ENOMEM);
  if (ready > 0) {
    for (size_t i = 0; i < ids.size(); ++i) {
      TENON_CHECK(!(fds[i].revents & POLLNVAL));  // closed without RemoveFd
      if (fds[i].revents != 0) ServeFd(ids[i]);
    }
    if (fds.size() > ids.size() && fds.back().revents != 0) ServeSignals();
  }
  ServeTimers();
}

// Looks for the id, not for the descriptor number: an earlier callback may have closed the
// descriptor, and the number may already belong to another one, which is not ready.
void PollLoop::ServeFd(uint64_t id) {
  auto found = std::find_if(watches_.begin(), watches_.end(),
                            [&](const Watch& watch) { return watch.id == id; });
  if (found == watches_.end()) return;
  auto call = found->on_ready;  // keeps the callback alive if it removes itself
  (*call)();
}

void PollLoop::ServeSignals() {
  signalfd_siginfo info;
  while (::read(signal_fd_.get(), &info, sizeof info) == sizeof info) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

void PollLoop::ServeTimers() {
  if (timers_.empty()) return;
  int64_t now = SystemClock().MonotonicUs();
  std::vector<std::pair<int64_t, TimerId>> due;
  for (const auto& [id, timer] : timers_) {
    if (timer.due_us <= now) due.emplace_back(timer.due_us, id);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [when, id] : due) {
    auto timer = timers_.extract(id);
    if (timer) timer.mapped().on_time();
  }
}

}  // namespace tenon
