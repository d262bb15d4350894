// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_IN_CHILD_H_
#define TENON_BASE_IN_CHILD_H_

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/file.h"
#include "base/process.h"

namespace tenon {

// For tests that need a process of their own (other user, own mounts, limits). Runs `body` in a
// forked child and returns what `body` returned; "" means all is well. If the child dies, the text
// says how.
inline std::string InChild(const std::function<std::string()>& body) {
  int ends[2];
  TENON_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  pid_t pid = ::fork();
  TENON_CHECK(pid >= 0);
  if (pid == 0) {
    ::close(ends[0]);
    std::string said = body();
    (void)WriteAll(ends[1], said).ok();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  auto status = Wait(pid);
  if (!status.ok()) return status.error().message;
  if (status->AsShell() != 0) said += "child ended with " + std::to_string(status->AsShell());
  return said;
}

// Gives the calling process its own mount table, as root or through a user namespace. Returns false
// where the system allows neither.
inline bool OwnMounts() {
  uid_t uid = ::geteuid();
  gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    auto write = [](const char* path, const std::string& text) {
      auto fd = OpenFile(path, O_WRONLY);
      return fd.ok() && WriteAll(fd->get(), text).ok();
    };
    write("/proc/self/setgroups", "deny");
    write("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
    if (!write("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1")) return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace tenon

#endif  // TENON_BASE_IN_CHILD_H_
