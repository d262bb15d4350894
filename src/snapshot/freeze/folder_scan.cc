// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/folder_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "snapshot/store/large_object.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kListBuffer = 256u << 10;
constexpr int kTries = 3;

// The layout that the kernel writes (struct linux_dirent64): ino 8, offset 8, length 2, type 1,
// name.
constexpr size_t kLengthAt = 16;
constexpr size_t kTypeAt = 18;
constexpr size_t kNameAt = 19;

uint8_t TypeOf(mode_t mode) { return static_cast<uint8_t>((mode & S_IFMT) >> 12); }

Error Changed() { return ChangedWhileRead().WithHint("try again when nothing writes there"); }

Error Unreadable(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return Unavailable("vanished while the snapshot was taken")
          .WithHint("try again when nothing writes there");
    case ELOOP:
    case ENOTDIR:
    case ENXIO:
      return Changed();
    default: {
      Error error = FromErrno("open", errno_value);
      if (error.kind != ErrorKind::kDenied) return error;
      return std::move(error).WithHint("make it readable, or list it in .amlignore");
    }
  }
}

bool MayPass(int errno_value) {
  return errno_value == ENOENT || errno_value == ELOOP || errno_value == ENXIO ||
         errno_value == ENOTDIR;
}

int OpenAt(int folder, const char* name, int flags) {
  int fd;
  do {
    fd = ::openat(folder, name, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// A short pause before the next try: the other writer may be done then.
void Rest(int attempt) {
  const timespec time{0, attempt * 5'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

Result<bool> FolderLister::Next(Listing* listing) {
  thread_local std::vector<char> buffer(kListBuffer);
  long got;
  do {
    got = ::syscall(SYS_getdents64, fd_, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return FromErrno("list", errno);
  for (long at = 0; at < got;) {
    const char* record = buffer.data() + at;
    uint16_t length;
    std::memcpy(&length, record + kLengthAt, sizeof length);
    at += length;
    const std::string_view name(record + kNameAt);
    if (name == "." || name == "..") continue;
    uint8_t type = static_cast<uint8_t>(record[kTypeAt]);
    if (type == DT_UNKNOWN) {
      struct stat info;
      if (::fstatat(fd_, record + kNameAt, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) continue;
        return FromErrno("look at " + std::string(name), errno);
      }
      type = TypeOf(info.st_mode);
    }
    if (name.size() > kMaxName) return Invalid("a name of more than 255 bytes");
    if (listing->names.size() > 0xf0000000u) return Invalid("too many names in one folder");
    listing->entries.push_back(
        {static_cast<uint32_t>(listing->names.size()), static_cast<uint8_t>(name.size()), type});
    listing->names.append(name.data(), name.size() + 1);
  }
  return got > 0;
}

size_t CacheCursor::Find(std::string_view name) {
  if (!folder_) return kNone;
  CachedEntry entry;
  if (in_order_) {
    const size_t here = at_;
    if (folder_->Next(&at_, &entry) && entry.name == name) return here;
    in_order_ = false;
    for (size_t at = 0, start = 0; folder_->Next(&at, &entry); start = at) {
      places_.emplace(entry.name, start);
    }
  }
  const auto found = places_.find(name);
  return found == places_.end() ? kNone : found->second;
}

Result<FileStat> ReadSteadily(int folder, const char* name,
                              const std::function<Status(int fd, const FileStat& stat)>& read) {
  for (int attempt = 1;; ++attempt) {
    const bool last = attempt == kTries;
    // O_NONBLOCK: a FIFO may have replaced the file.
    const UniqueFd fd(OpenAt(folder, name, O_NONBLOCK));
    struct stat info;
    if (!fd.valid()) {
      if (last || !MayPass(errno)) return Unreadable(errno);
      Rest(attempt);
      continue;
    }
    if (::fstat(fd.get(), &info) != 0) return FromErrno("look at", errno);
    if (S_ISREG(info.st_mode)) {
      const FileStat before = FileStat::From(info);
      Status status = read(fd.get(), before);
      const bool changed = !status.ok() && status.error().reason == kChangedWhileRead;
      if (!status.ok() && !changed) return std::move(status).error();
      if (::fstat(fd.get(), &info) != 0) return FromErrno("look at", errno);
      if (!changed && FileStat::From(info) == before) return before;
    }
    if (last) return Changed();
    Rest(attempt);
  }
}

Result<UniqueFd> OpenFolder(int folder, const char* name) {
  for (int attempt = 1;; ++attempt) {
    UniqueFd fd(OpenAt(folder, name, O_DIRECTORY));
    if (fd.valid()) return fd;
    if (attempt == kTries || !MayPass(errno)) return Unreadable(errno);
    Rest(attempt);
  }
}

Result<std::string> ReadTarget(int folder, const char* name) {
  std::array<char, kMaxTarget + 1> target;
  for (int attempt = 1;; ++attempt) {
    const ssize_t n = ::readlinkat(folder, name, target.data(), target.size());
    if (n > 0 && static_cast<size_t>(n) <= kMaxTarget) {
      return std::string(target.data(), static_cast<size_t>(n));
    }
    const int failure = n < 0 ? errno : EINVAL;
    if (n >= 0) return Invalid("a symlink with a target of no or too many bytes");
    if (failure == EINVAL) {
      if (attempt == kTries) return Changed();
    } else if (attempt == kTries || !MayPass(failure)) {
      return Unreadable(failure);
    }
    Rest(attempt);
  }
}

}  // namespace tenon::snapshot
