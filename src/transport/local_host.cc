// SPDX-License-Identifier: Apache-2.0
#include "transport/local_host.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace tenon::transport {
namespace {

constexpr int64_t kLookEveryUs = 20'000;
constexpr int kBusyTries = 50;
// How often we look in spite of inotify: on a network file system another machine may write.
constexpr int64_t kTrustUs = 500'000;

void Sleep(int64_t us) {
  timespec pause{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000};
  ::nanosleep(&pause, nullptr);
}

// The last close of an inotify instance blocks for a grace period of the kernel, 10 ms and more. So
// does the exit of a process that has it open. So we leave it to a grandchild, which has nothing
// else open and outlives us by that time.
void CloseWithoutWaiting(UniqueFd inotify) {
  const int fd = inotify.get();
  if (fd < 3) return;
  const pid_t child = ::fork();
  if (child == 0) {
    // Close the rest before the second fork: once the child has been waited for, no process has
    // copies of our locks or pipes.
    if (::close_range(0, static_cast<unsigned>(fd) - 1, 0) != 0 ||
        ::close_range(static_cast<unsigned>(fd) + 1, UINT_MAX, 0) != 0) {
      ::_exit(1);
    }
    const pid_t self = ::getpid();
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == self) ::pause();
    }
    ::_exit(0);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

LocalHost::~LocalHost() { CloseWithoutWaiting(std::move(inotify_)); }

Result<CaptureResult> LocalHost::Run(const std::vector<std::string>& argv, const std::string& input,
                                     int timeout_ms) {
  // A program we have just written is "busy" while a child that another thread is starting still
  // holds the descriptor it was written through; that lasts until the child's exec.
  for (int tries = 0;; ++tries) {
    auto ran = RunAndCapture(argv, "", input, timeout_ms);
    const bool busy = !ran.ok() && ran.error().reason == "ETXTBSY";
    if (!busy || tries == kBusyTries) return ran;
    Sleep(kLookEveryUs);
  }
}

Status LocalHost::PutFile(const std::string& path, std::string_view bytes, mode_t mode) {
  TENON_TRY_VOID(MakeDirs(DirName(path), 0700));
  return WriteFileAtomically(path, bytes, mode, Durability::kPowerLoss);
}

Result<std::string> LocalHost::ReadFrom(const std::string& path, uint64_t offset, size_t max) {
  // The kept descriptor is of no use when another file has that name now.
  struct stat named {};
  if (::stat(path.c_str(), &named) != 0) return FromErrno("reading " + path, errno);
  struct stat held {};
  if (!read_fd_.valid() || read_path_ != path || ::fstat(read_fd_.get(), &held) != 0 ||
      held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
    TENON_TRY(read_fd_, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    read_path_ = path;
  }
  uint64_t size = static_cast<uint64_t>(named.st_size);
  if (offset >= size) return std::string();
  std::string bytes(std::min<uint64_t>(max, size - offset), '\0');
  TENON_TRY(size_t count, ReadAt(read_fd_.get(), bytes, offset));
  bytes.resize(count);
  return bytes;
}

LocalHost::Watched LocalHost::Watch(const std::string& path, uint64_t inode) {
  if (!inotify_ok_) return Watched::kNot;
  if (!inotify_.valid()) {
    inotify_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!inotify_.valid()) {
      inotify_ok_ = false;
      return Watched::kNot;
    }
  }
  auto known = watched_.find(path);
  if (known != watched_.end() && known->second == inode) return Watched::kBefore;
  // The kernel has removed the watch of a file that was replaced.
  if (::inotify_add_watch(inotify_.get(), path.c_str(),
                          IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB) < 0) {
    return Watched::kNot;
  }
  watched_[path] = inode;
  return Watched::kNew;
}

void LocalHost::TakeEvents() {
  if (!inotify_.valid()) return;
  alignas(inotify_event) char events[4096];
  while (::read(inotify_.get(), events, sizeof events) > 0) {
  }
}

Result<bool> LocalHost::WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) {
  int64_t deadline = SystemClock().MonotonicUs() + timeout_us;
  std::vector<uint64_t> first_inodes(files.size(), 0);
  for (;;) {
    // Drop old events before the look, so that every event from now on calls for another look.
    TakeEvents();
    size_t missing = 0, unwatched = 0, fresh = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      struct stat now {};
      if (::stat(files[i].path.c_str(), &now) != 0) {
        if (errno != ENOENT) return FromErrno("watching " + files[i].path, errno);
        // The file was there during this wait and is gone.
        if (first_inodes[i] != 0) return true;
        ++missing;
        continue;
      }
      if (first_inodes[i] == 0) first_inodes[i] = now.st_ino;
      if (static_cast<uint64_t>(now.st_size) > files[i].size || now.st_ino != first_inodes[i]) {
        return true;
      }
      Watched watched = Watch(files[i].path, now.st_ino);
      if (watched == Watched::kNot) ++unwatched;
      if (watched == Watched::kNew) ++fresh;
    }
    if (missing == files.size()) {
      return FromErrno("watching " + (files.empty() ? "" : files[0].path), ENOENT);
    }
    all_watched_ = unwatched + missing == 0;
    // Look at the sizes once more before waiting on a new watch: the file may have grown before it.
    if (fresh > 0) continue;
    const int64_t left = deadline - SystemClock().MonotonicUs();
    if (left <= 0) return false;
    if (!all_watched_) {
      Sleep(std::min(left, kLookEveryUs));
    } else {
      pollfd ready{inotify_.get(), POLLIN, 0};
      ::poll(&ready, 1, static_cast<int>((std::min(left, kTrustUs) + 999) / 1000));
    }
  }
}

Result<bool> LocalHost::IsLocked(const std::string& path) { return IsLockedByOther(path); }

}  // namespace tenon::transport
