// SPDX-License-Identifier: Apache-2.0
// RemoveTree. Every step names an entry by (open folder, name), so a path longer than PATH_MAX, a
// folder that is moved meanwhile or a symlink put in the way cannot lead us elsewhere. There is one
// frame per level. Only the deepest kOpenLevels frames keep their folder open; an older folder is
// found again through ".." and is used only if it is still the same folder. Files are removed while
// a folder is read; the names of its subfolders are kept, so a folder of 100,000 entries is read
// once.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace tenon {
namespace {

constexpr size_t kOpenLevels = 64;
constexpr int kMostReadings = 8;  // of one folder that another process keeps filling

struct Frame {
  std::string name;
  UniqueFd fd;
  dev_t dev = 0;
  ino_t ino = 0;
  std::vector<std::string> folders;  // still to be removed, last first
  int readings = 0;
  bool stuck = false;  // something in it cannot be removed, so it cannot be removed either
};

class TreeRemover {
 public:
  explicit TreeRemover(const std::string& path) : path_(path) {}

  Status Run();

 private:
  void Enter(int parent, const std::string& name);
  UniqueFd OpenFolder(int parent, const std::string& name);
  void ReadFolder(Frame& frame);
  void RemoveEntry(Frame& frame, const dirent& entry);
  void Leave();
  bool ReopenParent(const Frame& child, Frame& parent);
  std::string PathOf(std::string_view name) const;
  void Fail(std::string_view name, int errno_value);

  std::string path_;  // without slashes at its end
  dev_t dev_ = 0;
  std::vector<Frame> frames_;
  std::optional<Error> first_error_;
};

std::string TreeRemover::PathOf(std::string_view name) const {
  std::string path = frames_.empty() ? path_ : frames_.front().name;
  for (size_t i = 1; i < frames_.size(); ++i) path = JoinPath(path, frames_[i].name);
  return frames_.empty() ? path : JoinPath(path, name);
}

void TreeRemover::Fail(std::string_view name, int errno_value) {
  if (!first_error_) first_error_ = FromErrno("remove " + PathOf(name), errno_value);
  if (!frames_.empty()) frames_.back().stuck = true;
}

// If we may not read a folder, makes it ours to read first. Goes through O_PATH, because chmod by
// name would follow a symlink that somebody puts there between two calls.
UniqueFd TreeRemover::OpenFolder(int parent, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(parent, name.c_str(), kFlags));
  if (fd.valid() || errno != EACCES) return fd;
  UniqueFd handle(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.valid()) return handle;
  std::string by_handle = "/proc/self/fd/" + std::to_string(handle.get());
  if (::chmod(by_handle.c_str(), 0700) != 0) {
    errno = EACCES;
    return {};
  }
  return UniqueFd(::openat(parent, name.c_str(), kFlags));
}

void TreeRemover::Enter(int parent, const std::string& name) {
  Frame frame;
  frame.name = name;
  frame.fd = OpenFolder(parent, name);
  struct stat info;
  if (!frame.fd.valid() || ::fstat(frame.fd.get(), &info) != 0) {
    if (errno != ENOENT) Fail(name, errno);
    return;
  }
  if (frames_.empty()) dev_ = info.st_dev;
  if (info.st_dev != dev_) return Fail(name, EXDEV);
  if ((info.st_mode & 0700) != 0700 && info.st_uid == ::geteuid()) {
    ::fchmod(frame.fd.get(), info.st_mode | 0700);
  }
  frame.dev = info.st_dev;
  frame.ino = info.st_ino;
  frames_.push_back(std::move(frame));
  if (frames_.size() > kOpenLevels) frames_[frames_.size() - 1 - kOpenLevels].fd.Reset();
  ReadFolder(frames_.back());
}

void TreeRemover::RemoveEntry(Frame& frame, const dirent& entry) {
  if (entry.d_type != DT_DIR) {
    if (::unlinkat(frame.fd.get(), entry.d_name, 0) == 0 || errno == ENOENT) return;
    // Some file systems answer EPERM for a folder; Linux answers it for an immutable file.
    if (errno != EISDIR && errno != EPERM) return Fail(entry.d_name, errno);
    int failure = errno;
    struct stat info;
    bool folder = ::fstatat(frame.fd.get(), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISDIR(info.st_mode);
    if (!folder) return Fail(entry.d_name, failure);
  }
  frame.folders.emplace_back(entry.d_name);
}

void TreeRemover::ReadFolder(Frame& frame) {
  ++frame.readings;
  int copy = ::openat(frame.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!dir) {
    Fail("", errno);
    if (copy >= 0) ::close(copy);
    return;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (!entry) break;
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") RemoveEntry(frame, *entry);
  }
  if (errno != 0) Fail("", errno);
  ::closedir(dir);
}

bool TreeRemover::ReopenParent(const Frame& child, Frame& parent) {
  if (parent.fd.valid()) return true;
  UniqueFd fd(::openat(child.fd.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info;
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return false;
  if (info.st_dev != parent.dev || info.st_ino != parent.ino) {
    errno = ESTALE;  // moved away while we were in it
    return false;
  }
  parent.fd = std::move(fd);
  return true;
}

// The deepest folder has been emptied as far as possible: removes it from its parent.
void TreeRemover::Leave() {
  Frame child = std::move(frames_.back());
  frames_.pop_back();
  if (!frames_.empty() && !ReopenParent(child, frames_.back())) {
    int failure = errno;
    Fail(child.name, failure);
    for (Frame& frame : frames_) frame.folders.clear();
    frames_.clear();  // the way back is lost
    return;
  }
  int parent = frames_.empty() ? AT_FDCWD : frames_.back().fd.get();
  if (child.stuck) {
    if (!frames_.empty()) frames_.back().stuck = true;
    return;
  }
  if (::unlinkat(parent, child.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return;
  bool refilled = errno == ENOTEMPTY || errno == EEXIST;
  if (!refilled || child.readings >= kMostReadings) return Fail(child.name, errno);
  frames_.push_back(std::move(child));
  ReadFolder(frames_.back());
}

Status TreeRemover::Run() {
  struct stat info;
  if (::lstat(path_.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return FromErrno("remove " + path_, errno);
  }
  if (!S_ISDIR(info.st_mode)) return RemoveFile(path_);
  Enter(AT_FDCWD, path_);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.folders.empty()) {
      Leave();
      continue;
    }
    std::string name = std::move(frame.folders.back());
    frame.folders.pop_back();
    // An empty folder is removed without a visit.
    if (::unlinkat(frame.fd.get(), name.c_str(), AT_REMOVEDIR) == 0) continue;
    Enter(frame.fd.get(), name);
  }
  if (first_error_) return *first_error_;
  return {};
}

}  // namespace

Status RemoveTree(const std::string& path) {
  // With the slash, "link/" would mean the folder that the link points to.
  size_t last = path.find_last_not_of('/');
  std::string bare = last == std::string::npos ? "" : path.substr(0, last + 1);
  std::string_view name = BaseName(bare);
  if (name.empty() || name == "." || name == "..") {
    return Invalid("remove '" + path + "': not a name that can be removed");
  }
  return TreeRemover(bare).Run();
}

}  // namespace tenon
