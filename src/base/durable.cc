// SPDX-License-Identifier: Apache-2.0
#include "base/durable.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace tenon {
namespace {

constexpr int kLineLength = 20;

// Counts one step. Does not return if the test wants the process to die at this step.
void CountStep(const char* what) {
  const char* wish = std::getenv("TENON_TEST_DURABLE_STEPS");
  if (wish == nullptr) return;
  char* path = nullptr;
  const long last = std::strtol(wish, &path, 10);
  if (*path != ':') return;
  const int file = ::open(path + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  char line[64];
  std::snprintf(line, sizeof line, "%9d %9s\n", static_cast<int>(::getpid()), what);
  // O_APPEND has left the offset right behind our own line, whatever others append.
  const bool counted = ::write(file, line, kLineLength) == kLineLength;
  const long step = static_cast<long>(::lseek(file, 0, SEEK_CUR)) / kLineLength;
  ::close(file);
  if (counted && last > 0 && step >= last) (void)::kill(::getpid(), SIGKILL);
}

// A file system that gives up during the wait (its journal is aborted, its disk is gone) may still
// answer that all is well; ext4 does. From then on it opens no file any more, at least not for
// writing, so opening the file again shows it.
bool GaveUp(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return false;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int mode = (flags & O_ACCMODE) == O_RDONLY ? O_RDONLY : O_WRONLY;
  const int again = ::open(path, mode | O_NONBLOCK | O_CLOEXEC);
  if (again < 0) return errno == EIO || errno == EROFS;
  ::close(again);
  return false;
}

template <typename Call>
int Repeat(const char* what, int fd, Call call) {
  CountStep(what);
  int result;
  do {
    result = call(fd);
  } while (result != 0 && errno == EINTR);
  if (result != 0 || !GaveUp(fd)) return result;
  errno = EIO;
  return -1;
}

}  // namespace

int DurableFsync(int fd) { return Repeat("fsync", fd, ::fsync); }
int DurableFdatasync(int fd) { return Repeat("fdatasync", fd, ::fdatasync); }
int DurableSyncfs(int fd) { return Repeat("syncfs", fd, ::syncfs); }

bool NamesFollowFsync(int fd) {
  struct statfs info;
  if (::fstatfs(fd, &info) != 0) return false;
  switch (static_cast<unsigned long>(info.f_type) & 0xffffffffUL) {
    case 0xef53:      // ext4
    case 0x58465342:  // XFS
    case 0x9123683e:  // btrfs
      return true;
    default:
      return false;
  }
}

}  // namespace tenon
