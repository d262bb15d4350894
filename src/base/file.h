// SPDX-License-Identifier: Apache-2.0
// Files and folders. Paths are bytes (std::string), never assumed to be UTF-8. Every function that
// gets a path names it in its Error. Functions that remove a path do not follow a symlink in its
// last part.
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
// BaseName: the part after the last slash. DirName: the part before it; "." when there is no slash.
std::string_view BaseName(std::string_view path);
std::string DirName(std::string_view path);

// open(2) with O_CLOEXEC, retried on EINTR.
Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode = 0644);

// Reads the whole file. Fails with kInvalid when it is larger than `limit`, or is a FIFO.
Result<std::string> ReadFile(const std::string& path, size_t limit = 64u << 20);
// The target of a symlink.
Result<std::string> ReadLink(const std::string& path);
// The process's working folder, absolute. Fails with kNotFound when it was removed.
Result<std::string> CurrentFolder();

// Writes everything, retrying short writes and EINTR.
Status WriteAll(int fd, std::string_view bytes);
Status WriteAllAt(int fd, std::string_view bytes, uint64_t offset);
// Reads into `out` from `offset` on. Returns the number of bytes; fewer than out.size() only at the
// end of the file.
Result<size_t> ReadAt(int fd, std::span<char> out, uint64_t offset);

enum class Durability {
  kProcess,  // survives the end of this process; after a power cut the file may be empty
  kWhole,    // fsync of the file before the rename: after a power cut there is the old file or the
             // whole new one
  kPowerLoss,  // also fsync of the folder before returning: after a power cut there is the new file
};

// The one way to make a file appear whole: writes a temporary file beside it and renames that, with
// an fsync of the file and of its folder as `durability` says. On failure the temporary file is
// removed and an old file of that name stays as it was; only when the fsync of the folder fails is
// the new file already in place.
Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode,
                           Durability durability);

Status FsyncDir(const std::string& path);

// mkdir -p. The last part gets `mode`. New parents get 0777, or `mode` where that gives nothing to
// group and others. The umask applies. An existing folder is success.
Status MakeDirs(const std::string& path, mode_t mode = 0777);

// rm -rf, but fails at a folder that is another file system. Makes folders of ours writable first.
// A path that does not exist is success. An empty path, "/", and a path that ends in "." or ".."
// are kInvalid.
Status RemoveTree(const std::string& path);
Status RemoveFile(const std::string& path);  // no such file: success
// rename(2): replaces `to` in one moment. For files that are already complete.
Status RenameFile(const std::string& from, const std::string& to);

// Names in a folder, without "." and "..", unsorted.
Result<std::vector<std::string>> ListDir(const std::string& path);

bool Exists(const std::string& path);  // lstat succeeds
bool IsDirectory(const std::string& path);
// The time of the last change, in microseconds since 1970; 0 when the file does not exist.
int64_t ModifiedUs(const std::string& path);

// An exclusive flock(2), held as long as the object lives. flock, not fcntl: it belongs to the open
// file, works before Linux 3.15, and is mapped to byte-range locks on NFS.
class FileLock {
 public:
  // Creates the file if needed. Without `wait`, fails with kUnavailable when another process holds
  // the lock. With `wait`, fails with kUnavailable only when the holder is stopped.
  static Result<FileLock> Take(const std::string& path, bool wait);
  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = default;

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// True when another open file holds an exclusive flock on this one. Does not wait, and holds no
// lock afterwards.
Result<bool> IsLockedByOther(const std::string& path);

// Bytes an unprivileged user can still write on the file system of `path`.
Result<uint64_t> FreeBytes(const std::string& path);

}  // namespace tenon

#endif  // TENON_BASE_FILE_H_
