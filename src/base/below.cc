// SPDX-License-Identifier: Apache-2.0
#include "base/below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace tenon {

UniqueFd OpenParentBelow(int root, std::string_view path, bool make) {
  UniqueFd at(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  for (size_t slash; at.valid() && (slash = path.find('/')) != std::string_view::npos;) {
    const std::string name(path.substr(0, slash));
    path.remove_prefix(slash + 1);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = ::openat(at.get(), name.c_str(), kFlags);
    if (next < 0 && errno == ENOENT && make) {
      if (::mkdirat(at.get(), name.c_str(), 0777) == 0 || errno == EEXIST) {
        next = ::openat(at.get(), name.c_str(), kFlags);
      }
    }
    const int failure = errno;
    at.Reset(next);
    errno = failure;
  }
  return at;
}

Status WriteFileBelow(int root, std::string_view path, bool replace,
                      const std::function<Status(int fd)>& fill) {
  const UniqueFd parent = OpenParentBelow(root, path, /*make=*/true);
  if (!parent.valid()) {
    if (errno != ELOOP && errno != ENOTDIR) return FromErrno("make its folder", errno);
    return Invalid("a folder above it is a symlink or a file here");
  }
  const std::string temporary = ".tenon-tmp-" + RandomHex(8), name(BaseName(path));
  const auto write = [&]() -> Status {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const UniqueFd fd(::openat(parent.get(), temporary.c_str(), kFlags, 0666));
    if (!fd.valid()) return FromErrno("make file", errno);
    TENON_TRY_VOID(fill(fd.get()));
    const unsigned int how = replace ? 0 : RENAME_NOREPLACE;
    int moved = ::renameat2(parent.get(), temporary.c_str(), parent.get(), name.c_str(), how);
    if (moved != 0 && (errno == EINVAL || errno == ENOSYS)) {  // the call is not supported
      moved = ::renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str());
    }
    if (moved == 0) return {};
    if (errno == EEXIST) return Invalid("it is there already");
    return FromErrno("move into place", errno);
  };
  Status written = write();
  if (!written.ok()) ::unlinkat(parent.get(), temporary.c_str(), 0);
  return written;
}

}  // namespace tenon
