// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/file_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"

namespace tenon::runner {

void FileWatch::Add(const std::string& path) {
  if (!AddWatch(path, IN_MODIFY | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)) {
    AddFolder(DirName(path));
  }
}

void FileWatch::AddFolder(const std::string& path) {
  (void)AddWatch(path, IN_CREATE | IN_MOVED_TO);
}

bool FileWatch::AddWatch(const std::string& path, uint32_t events) {
  if (!std::exchange(tried_, true)) inotify_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify_.valid()) return true;
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events);
  if (watch >= 0) watches_.insert(watch);
  return watch >= 0;
}

void FileWatch::Clear() {
  for (const int watch : watches_) ::inotify_rm_watch(inotify_.get(), watch);
  watches_.clear();
  if (inotify_.valid()) (void)TakeEvents();
}

FileWatch::Told FileWatch::TakeEvents() {
  Told told;
  if (!inotify_.valid()) return told;
  alignas(inotify_event) char events[4096];
  for (;;) {
    const ssize_t count = ::read(inotify_.get(), events, sizeof events);
    if (count <= 0) return told;
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      told.closed |= (event->mask & (IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)) != 0;
      told.appeared |= (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0;
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

}  // namespace tenon::runner
