// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "base/durable.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "base/waiting.h"

namespace tenon {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// A name that nobody else uses, in the folder of `path`, and no longer than a file name may be.
std::string TempBeside(const std::string& path) {
  return JoinPath(DirName(path), ".tenon-tmp-" + std::to_string(::getpid()) + "-" + RandomHex(8));
}

Status WriteAndClose(UniqueFd fd, std::string_view bytes, Durability durability) {
  TENON_TRY_VOID(WriteAll(fd.get(), bytes));
  if (durability != Durability::kProcess && DurableFsync(fd.get()) != 0) {
    return FromErrno("fsync", errno);
  }
  // A network file system may report a full disk only at close.
  if (::close(fd.Release()) != 0 && errno != EINTR) return FromErrno("close", errno);
  return {};
}

std::string_view KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a device";
}

Result<std::string> ReadToEnd(int fd, const std::string& path, size_t limit) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return FromErrno("read " + path, errno);
  auto too_large = [&] {
    return Invalid("read " + path + ": larger than the " + HumanBytes(limit) + " allowed here");
  };
  bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
  if (sized && static_cast<uint64_t>(info.st_size) > limit) return too_large();
  // One byte more than expected, so that read(2) can report the end without a larger buffer.
  std::string bytes(sized ? static_cast<size_t>(info.st_size) + 1 : 4096, '\0');
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    ssize_t n = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("read " + path, errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (used > limit) return too_large();
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

std::string JoinPath(std::string_view a, std::string_view b) {
  if (a.empty() || (!b.empty() && b.front() == '/')) return std::string(b);
  std::string joined(a);
  if (b.empty()) return joined;
  if (joined.back() != '/') joined += '/';
  joined += b;
  return joined;
}

std::string_view BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string DirName(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  size_t last = path.substr(0, slash).find_last_not_of('/');
  return last == std::string_view::npos ? "/" : std::string(path.substr(0, last + 1));
}

Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FromErrno("open " + path, errno);
  return UniqueFd(fd);
}

Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode) {
  auto opened = OpenFile(path, flags | O_NONBLOCK | O_NOCTTY, mode);
  // These can't be opened: a socket, a FIFO without a reader for writing alone, a symlink with
  // O_NOFOLLOW, a folder for writing. The kind of file says more than errno.
  struct stat info;
  if (!opened.ok() && ::lstat(path.c_str(), &info) != 0) return opened;
  if (opened.ok() && ::fstat(opened->get(), &info) != 0) return FromErrno("open " + path, errno);
  if (S_ISREG(info.st_mode)) return opened;
  if (!opened.ok() && S_ISLNK(info.st_mode) && (flags & O_NOFOLLOW) == 0) return opened;
  return Corrupt(path + " is " + std::string(KindOfFile(info.st_mode)) + ", not a file");
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FromErrno("read " + path, errno);
  if (S_ISFIFO(info.st_mode)) return Invalid("read " + path + ": it is a FIFO, not a file");
  return ReadToEnd(fd.get(), path, limit);
}

Result<std::string> ReadStream(const std::string& path, size_t limit) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY));
  return ReadToEnd(fd.get(), path, limit);
}

Result<std::string> CurrentFolder() {
  const std::unique_ptr<char, decltype(&::free)> folder(::getcwd(nullptr, 0), &::free);
  if (!folder) return FromErrno("finding the current folder", errno);
  return std::string(folder.get());
}

Result<std::string> ReadLink(const std::string& path) {
  std::string target(256, '\0');
  for (;;) {
    ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    if (n < 0) return FromErrno("read link " + path, errno);
    if (static_cast<size_t>(n) < target.size()) {
      target.resize(static_cast<size_t>(n));
      return target;
    }
    target.resize(target.size() * 2);
  }
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status WriteAllAt(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Result<size_t> ReadAt(int fd, std::span<char> out, uint64_t offset) {
  size_t used = 0;
  while (used < out.size()) {
    ssize_t n =
        ::pread(fd, out.data() + used, out.size() - used, static_cast<off_t>(offset + used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("read", errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  return used;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode,
                           Durability durability) {
  const std::string temp = TempBeside(path);
  auto opened = OpenFile(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!opened.ok()) return std::move(opened).error().Wrap("write " + path);
  Status written = WriteAndClose(std::move(*opened), bytes, durability);
  if (written.ok() && ::rename(temp.c_str(), path.c_str()) != 0) {
    written = FromErrno("rename", errno);
  }
  if (!written.ok()) {
    ::unlink(temp.c_str());
    return std::move(written).error().Wrap("write " + path);
  }
  if (durability == Durability::kPowerLoss) TENON_TRY_VOID(FsyncDir(DirName(path)));
  return {};
}

Status FsyncDir(const std::string& path) {
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
  // EINVAL: this file system keeps folders safe by other means.
  if (DurableFsync(fd.get()) != 0 && errno != EINVAL) return FromErrno("fsync " + path, errno);
  return {};
}

Status MakeDirs(const std::string& path, mode_t mode) {
  if (path.size() > 1 && path.back() == '/') {  // DirName() would keep the last part
    return MakeDirs(path.substr(0, path.size() - 1), mode);
  }
  if (::mkdir(path.c_str(), mode) == 0) return {};
  int failure = errno;
  if (failure == ENOENT) {
    std::string parent = DirName(path);
    if (path.empty() || parent == path || parent == ".") {
      return FromErrno("make folder " + path, failure);
    }
    // Parents made for a private folder are private too.
    TENON_TRY_VOID(MakeDirs(parent, (mode & 077) == 0 ? mode : 0777));
    if (::mkdir(path.c_str(), mode) == 0) return {};
    failure = errno;
  }
  // An existing folder is success, also one that somebody else has just made, and where the file
  // system refuses mkdir(2) before it looks whether the folder exists.
  if (IsDirectory(path)) return {};
  if (failure == EEXIST) return FromErrno("make folder " + path, ENOTDIR);
  return FromErrno("make folder " + path, failure);
}

Status RenameFile(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return FromErrno("renaming " + from + " to " + to, errno);
  return {};
}

Status RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return FromErrno("remove " + path, errno);
}

Result<std::vector<std::string>> ListDir(const std::string& path) {
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
  std::unique_ptr<DIR, DirCloser> dir(::fdopendir(fd.get()));
  if (!dir) return FromErrno("list " + path, errno);
  fd.Release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (!entry) break;
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return FromErrno("list " + path, errno);
  return names;
}

bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

int64_t ModifiedUs(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1'000'000 + info.st_mtim.tv_nsec / 1000;
}

Result<FileLock> FileLock::Take(const std::string& path, bool wait) {
  // Opened for writing, because an exclusive flock on NFS needs that.
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDWR | O_CREAT, 0600));
  // IsLockedByOther() holds a lock for some microseconds, longer when a busy machine suspends it.
  // That must not count as a held lock, so we try again: for 1 + 2 + … + 32 ms.
  constexpr int kTries = 6;
  LongWait long_wait(path);
  for (int tried = 0;;) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return FileLock(std::move(fd));
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FromErrno("lock " + path, errno);
    if (!wait && tried == kTries) return Unavailable("lock " + path + ": somebody else holds it");
    if (wait) TENON_TRY_VOID(long_wait.Look());
    // Where many wait, each holds the lock for a moment only, so a waiter looks often.
    const timespec pause{
        0, wait ? std::min(500'000L << std::min(tried, 4), 5'000'000L) : 1'000'000L << tried};
    ++tried;
    ::nanosleep(&pause, nullptr);
  }
}

Result<bool> IsLockedByOther(const std::string& path) {
  // The path may be a FIFO; opening it must not wait for its other end.
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  // A shared lock, so that two processes that look at the same time do not see each other.
  while (::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return true;
    if (errno != EINTR) return FromErrno("look at the lock of " + path, errno);
  }
  return false;
}

Result<uint64_t> FreeBytes(const std::string& path) {
  struct statvfs info;
  if (::statvfs(path.c_str(), &info) != 0) return FromErrno("free space of " + path, errno);
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace tenon
