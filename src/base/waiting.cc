// SPDX-License-Identifier: Apache-2.0
#include "base/waiting.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"

namespace tenon {
namespace {

constexpr size_t kMaxLocks = 4u << 20;
constexpr int64_t kPatienceUs = 2'000'000, kLookUs = 500'000, kStoppedUs = 2'000'000;

std::function<void(const std::string&)>& Listener() {
  static std::function<void(const std::string&)> listener;
  return listener;
}

// Field 3 of /proc/PID/stat. The name before it may hold any characters.
char StateOf(pid_t pid) {
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat", 65536);
  const size_t bracket = text.ok() ? text->rfind(") ") : std::string::npos;
  return bracket == std::string::npos || bracket + 2 >= text->size() ? '?' : (*text)[bracket + 2];
}

// A line reads "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF". Returns the process that holds a
// lock on the file, else 0. A line with "->" is about a process that waits.
pid_t HolderIn(const std::string& line, const struct stat& file, bool same_device) {
  if (line.find("->") != std::string::npos) return 0;
  int pid = 0;
  unsigned major = 0, minor = 0;
  unsigned long inode = 0;
  if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) !=
      4) {
    return 0;
  }
  if (pid <= 0 || inode != file.st_ino) return 0;
  const bool same = major == ::major(file.st_dev) && minor == ::minor(file.st_dev);
  return same || !same_device ? pid : 0;
}

}  // namespace

bool IsStopped(pid_t pid) {
  const char state = pid > 0 ? StateOf(pid) : '?';
  return state == 'T' || state == 't';
}

std::string LockHolder::Describe() const {
  return (name.empty() ? "a program" : name) + " (process " + std::to_string(pid) + ")";
}

std::string LockHolder::Hint() const {
  const std::string id = std::to_string(pid);
  return "`kill -CONT " + id + "` lets it go on; `kill -9 " + id + "` ends it";
}

std::optional<LockHolder> FindLockHolder(const std::string& path) {
  struct stat file;
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  const auto locks = ReadFile("/proc/locks", kMaxLocks);
  if (!locks.ok()) return std::nullopt;
  const std::vector<std::string> lines = Split(*locks, '\n');
  std::optional<LockHolder> first;
  // On some file systems (btrfs, overlays) /proc/locks shows another device than stat(2).
  for (const bool same_device : {true, false}) {
    for (const std::string& line : lines) {
      const pid_t pid = HolderIn(line, file, same_device);
      if (pid == 0 || pid == ::getpid()) continue;
      LockHolder holder;
      holder.pid = pid;
      holder.name =
          OneLine(Trim(ReadFile("/proc/" + std::to_string(pid) + "/comm", 4096).value_or("")));
      holder.stopped = IsStopped(pid);
      if (holder.stopped) return holder;
      if (!first) first = holder;
    }
    if (first) return first;
  }
  return std::nullopt;
}

Error LockedByStopped(const std::string& path, const LockHolder& holder) {
  return Unavailable(path + " is locked by " + holder.Describe() + ", which is stopped")
      .WithHint(holder.Hint());
}

Status LongWait::Look() {
  const int64_t now = SystemClock().MonotonicUs();
  if (began_us_ == 0) began_us_ = now;
  if (now - began_us_ < kPatienceUs || now - looked_us_ < kLookUs) return {};
  looked_us_ = now;
  const auto holder = FindLockHolder(path_);
  if (!holder || !holder->stopped) {
    stopped_since_us_ = 0;
  } else if (stopped_since_us_ == 0) {
    stopped_since_us_ = now;
  } else if (now - stopped_since_us_ >= kStoppedUs) {
    return LockedByStopped(path_, *holder);
  }
  if (!told_ && stopped_since_us_ == 0) {
    told_ = true;
    TellWait("waiting for " + (holder ? holder->Describe() : "another process") +
             ", which has locked " + path_);
  }
  return {};
}

void SetWaitListener(std::function<void(const std::string&)> listener) {
  Listener() = std::move(listener);
}

void TellWait(const std::string& sentence) {
  if (Listener()) Listener()(sentence);
}

}  // namespace tenon
