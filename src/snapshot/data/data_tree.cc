// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "snapshot/data/data_folder.h"

namespace tenon::snapshot {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error At(const std::string& path, int error) {
  if (error == ELOOP || error == ENOTDIR) {
    return Invalid(ForTerminal(path) +
                   ": a symlink or a file stands where a folder must be, and is "
                   "not followed");
  }
  return FromErrno(ForTerminal(path), error);
}

Result<UniqueFd> OpenFolder(int parent, const std::string& name, bool make,
                            const std::string& shown) {
  if (make && ::mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) {
    return At(shown, errno);
  }
  UniqueFd fd(::openat(parent, name.c_str(), kFolderFlags));
  if (!fd.valid()) return At(shown, errno);
  return fd;
}

}  // namespace

Result<DataTree::Parent> DataTree::OpenParent(const std::string& path, bool make) {
  TENON_TRY_VOID(CheckDataPath(path));
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string leaf = slash == std::string::npos ? path : path.substr(slash + 1);
  if (open_.valid() && open_folder_ == folder) return Parent{open_.get(), leaf};
  open_.Reset();
  TENON_TRY(UniqueFd fd, OpenFolder(AT_FDCWD, root_, make, root_));
  for (size_t begin = 0; begin < folder.size();) {
    const size_t end = std::min(folder.find('/', begin), folder.size());
    TENON_TRY(fd, OpenFolder(fd.get(), folder.substr(begin, end - begin), make,
                             JoinPath(root_, folder.substr(0, end))));
    begin = end + 1;
  }
  open_ = std::move(fd);
  open_folder_ = folder;
  return Parent{open_.get(), leaf};
}

Result<UniqueFd> DataTree::Open(const std::string& path) {
  TENON_TRY(const Parent parent, OpenParent(path, false));
  // O_NONBLOCK: opening a FIFO must not hang.
  UniqueFd fd(
      ::openat(parent.fd, parent.leaf.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return At(JoinPath(root_, path), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return At(JoinPath(root_, path), errno);
  if (!S_ISREG(info.st_mode)) return NotFound(JoinPath(root_, path) + " is no plain file");
  return fd;
}

Status DataTree::Place(const std::string& from, const std::string& path) {
  TENON_TRY(const Parent parent, OpenParent(path, true));
  if (::renameat(AT_FDCWD, from.c_str(), parent.fd, parent.leaf.c_str()) == 0) return {};
  if (errno != EISDIR && errno != EEXIST && errno != ENOTEMPTY) {
    return At(JoinPath(root_, path), errno);
  }
  // An empty folder is replaced.
  if (::unlinkat(parent.fd, parent.leaf.c_str(), AT_REMOVEDIR) != 0 ||
      ::renameat(AT_FDCWD, from.c_str(), parent.fd, parent.leaf.c_str()) != 0) {
    return Denied(ForTerminal(JoinPath(root_, path)) +
                  ": a folder that is not empty stands where this file belongs");
  }
  return {};
}

Status DataTree::TakeOut(const std::string& path, const std::string& to) {
  TENON_TRY(const Parent parent, OpenParent(path, false));
  if (::renameat(parent.fd, parent.leaf.c_str(), AT_FDCWD, to.c_str()) != 0) {
    return At(JoinPath(root_, path), errno);
  }
  return {};
}

Status DataTree::Remove(const std::string& path) {
  auto parent = OpenParent(path, false);
  if (!parent.ok()) {
    // The file is gone, or a part of the path is no folder any more and thus not ours to remove.
    const bool gone =
        parent.error().kind == ErrorKind::kNotFound || parent.error().kind == ErrorKind::kInvalid;
    return gone ? Status() : Status(parent.error());
  }
  if (::unlinkat(parent->fd, parent->leaf.c_str(), 0) != 0 && errno != ENOENT && errno != EISDIR) {
    return At(JoinPath(root_, path), errno);
  }
  std::string folder = open_folder_;
  while (!folder.empty()) {
    auto above = OpenParent(folder, false);
    if (!above.ok() || ::unlinkat(above->fd, above->leaf.c_str(), AT_REMOVEDIR) != 0) break;
    folder = open_folder_;
  }
  return {};
}

}  // namespace tenon::snapshot
