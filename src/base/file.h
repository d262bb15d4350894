// SPDX-License-Identifier: Apache-2.0
// Files and folders. Paths are bytes (std::string), never assumed to be UTF-8. Every function names
// the path in its Error. Nothing here follows a symlink in the last part of a path it removes.
#ifndef TENON_BASE_FILE_H_
#define TENON_BASE_FILE_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// a + "/" + b without doubling slashes; b absolute gives b.
std::string JoinPath(std::string_view a, std::string_view b);
// The part after the last slash; the part before it ("." when there is none).
std::string_view BaseName(std::string_view path);
std::string DirName(std::string_view path);

// open(2) with O_CLOEXEC, retried on EINTR.
Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode = 0644);

// The whole file. Larger than `limit`: kInvalid, nothing read.
Result<std::string> ReadFile(const std::string& path, size_t limit = 64u << 20);
// The target of a symlink.
Result<std::string> ReadLink(const std::string& path);

// Writes everything, retrying short writes and EINTR.
Status WriteAll(int fd, std::string_view bytes);
Status WriteAllAt(int fd, std::string_view bytes, uint64_t offset);
// Fills `out` from `offset` as far as the file goes; returns the count (short only at the end).
Result<size_t> ReadAt(int fd, std::span<char> out, uint64_t offset);

enum class Durability {
  kProcess,  // survives our death; after a power cut it may be there and be empty
  kWhole,    // fsync of the file before it gets its name: a power cut leaves the old one or all of
             // the new one
  kPowerLoss,  // and fsync of its folder before returning: the new one
};

// The one way to make a file appear whole: temp beside, write, (fsync,) rename, (fsync folder).
// On failure nothing is left behind and an old file of that name is untouched.
Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode,
                           Durability durability);

Status FsyncDir(const std::string& path);

// mkdir -p. Parents get 0777 & ~umask, the last part `mode`. An existing folder is success.
Status MakeDirs(const std::string& path, mode_t mode = 0777);

// rm -rf without crossing into other file systems; makes read-only folders of ours writable first.
// A path that is not there is success.
Status RemoveTree(const std::string& path);
Status RemoveFile(const std::string& path);  // not there = success
// rename(2): replaces `to` in one moment. For files that are already complete.
Status RenameFile(const std::string& from, const std::string& to);

// Names in a folder, without "." and "..", unsorted.
Result<std::vector<std::string>> ListDir(const std::string& path);

bool Exists(const std::string& path);  // lstat succeeds
bool IsDirectory(const std::string& path);
// When it was last changed, in microseconds since 1970; 0: not there.
int64_t ModifiedUs(const std::string& path);

// An exclusive flock(2), held as long as the object lives. flock, not fcntl: it belongs to the open
// file, works before Linux 3.15, and is mapped to byte-range locks on NFS.
class FileLock {
 public:
  // Creates the file if needed. kUnavailable: held, and no `wait`, or by one who is stopped.
  static Result<FileLock> Take(const std::string& path, bool wait);
  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = default;

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// True when another open file holds an flock on this one. Never waits, holds nothing afterwards.
Result<bool> IsLockedByOther(const std::string& path);

// Bytes an unprivileged user can still write on the file system of `path`.
Result<uint64_t> FreeBytes(const std::string& path);

}  // namespace tenon

#endif  // TENON_BASE_FILE_H_
