// SPDX-License-Identifier: Apache-2.0
// Compares a folder that people work in with a tree, and writes into it. Unlike in unpack.cc,
// anything may be in the folder, so each part of a path is opened by itself and symlinks are not
// followed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/below.h"
#include "base/durable.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/tree.h"
#include "snapshot/store/tree_read.h"

namespace tenon::snapshot {
namespace {

enum class State { kSame, kChanged, kMissing };

bool IsValidPath(std::string_view path) {
  for (;;) {
    const size_t slash = path.find('/');
    if (!IsValidName(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Result<Hash> HashFile(int fd) {
  Sha256 sha;
  std::vector<char> piece(256u << 10);
  for (uint64_t offset = 0;;) {
    TENON_TRY(const size_t got, ReadAt(fd, piece, offset));
    if (got == 0) return sha.Finish();
    offset += got;
    sha.Update({piece.data(), got});
  }
}

// Compares the bytes and the executable bit of a file with the entry.
Result<State> CompareFile(const Entry& entry, int folder, const std::string& name,
                          const struct stat& info) {
  if (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) != entry.size ||
      (info.st_mode & 0100) != (entry.mode & 0100)) {
    return State::kChanged;
  }
  const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return FromErrno("read", errno);
  TENON_TRY(const Hash hash, HashFile(fd.get()));
  return hash == entry.hash ? State::kSame : State::kChanged;
}

State CompareSymlink(const Entry& entry, int folder, const std::string& name,
                     const struct stat& info) {
  if (!S_ISLNK(info.st_mode)) return State::kChanged;
  std::array<char, kMaxTarget + 1> target;
  const ssize_t n = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  const bool same =
      n >= 0 && std::string_view(target.data(), static_cast<size_t>(n)) == entry.target;
  return same ? State::kSame : State::kChanged;
}

Result<State> CompareEntry(const Entry& entry, int root) {
  const UniqueFd folder = OpenParentBelow(root, entry.path, false);
  if (!folder.valid()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return State::kMissing;
    return FromErrno("look at", errno);
  }
  const std::string name(BaseName(entry.path));
  struct stat info;
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return State::kMissing;
    return FromErrno("look at", errno);
  }
  switch (entry.type) {
    case EntryType::kFile:
      return CompareFile(entry, folder.get(), name, info);
    case EntryType::kSymlink:
      return CompareSymlink(entry, folder.get(), name, info);
    case EntryType::kFolder:
      return S_ISDIR(info.st_mode) ? State::kSame : State::kChanged;
  }
  return Internal("unknown type of entry");
}

// Removes an empty folder that is in the way of a file or symlink. kInvalid if it is not empty.
Status ClearFolder(int folder, const std::string& name) {
  struct stat info;
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) {
    return {};
  }
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return {};
  if (errno == ENOTEMPTY || errno == EEXIST) {
    return Invalid("a folder that is not empty is in the way").WithHint("move that folder away");
  }
  return FromErrno("remove folder", errno);
}

Status WriteFolder(const Entry& entry, int folder, const std::string& name) {
  struct stat info;
  const bool there = ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISDIR(info.st_mode) && ::unlinkat(folder, name.c_str(), 0) != 0) {
    return FromErrno("remove", errno);
  }
  if ((!there || !S_ISDIR(info.st_mode)) && ::mkdirat(folder, name.c_str(), 0700) != 0) {
    return FromErrno("make folder", errno);
  }
  // Always with enough rights to put files into it.
  if (::fchmodat(folder, name.c_str(), entry.mode | 0700, 0) != 0) {
    return FromErrno("set mode", errno);
  }
  return {};
}

// Makes the new file or symlink under a temporary name and moves it over what exists.
Status Replace(const ObjectStore& store, const Entry& entry, int folder, const std::string& name) {
  const std::string temp = ".tenon-tmp-" + RandomHex(8);
  auto make = [&]() -> Status {
    if (entry.type == EntryType::kSymlink) {
      if (::symlinkat(entry.target.c_str(), folder, temp.c_str()) != 0) {
        return FromErrno("make symlink", errno);
      }
      return {};
    }
    UniqueFd fd(::openat(folder, temp.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid()) return FromErrno("make file", errno);
    TENON_TRY_VOID(store.CopyTo(entry.hash, fd.get()));
    if (::fchmod(fd.get(), entry.mode) != 0) return FromErrno("set mode", errno);
    // The new file must be on disk before an old one goes.
    struct stat info;
    const bool replaces = ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (replaces && DurableFsync(fd.get()) != 0) return FromErrno("fsync", errno);
    return {};
  };
  Status status = make();
  if (status.ok()) status = ClearFolder(folder, name);
  if (status.ok() && ::renameat(folder, temp.c_str(), folder, name.c_str()) != 0) {
    status = FromErrno("replace", errno);
  }
  if (!status.ok()) ::unlinkat(folder, temp.c_str(), 0);
  return status;
}

}  // namespace

Result<Difference> Compare(const ObjectStore& store, const Hash& root, const std::string& folder) {
  TENON_TRY(const UniqueFd root_fd, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  Difference difference;
  TENON_TRY_VOID(Walk(store, root, [&](const Entry& entry) -> Status {
    auto state = CompareEntry(entry, root_fd.get());
    if (!state.ok()) {
      return std::move(state).error().Wrap("compare " + ForTerminal(JoinPath(folder, entry.path)));
    }
    if (*state == State::kChanged) difference.changed.push_back(entry);
    if (*state == State::kMissing) difference.missing.push_back(entry);
    if (difference.changed.size() + difference.missing.size() > kMaxDifferences) {
      return Invalid("more than " + std::to_string(kMaxDifferences) +
                     " files and folders of the snapshot are not in " + ForTerminal(folder) +
                     " as they were, which is more than is written at once");
    }
    return {};
  }));
  return difference;
}

Status WriteEntry(const ObjectStore& store, const Entry& entry, const std::string& folder) {
  const std::string doing = "write " + ForTerminal(JoinPath(folder, entry.path));
  TENON_EXPECT_PEER(IsValidPath(entry.path), doing + ": not a path within a folder");
  TENON_TRY(const UniqueFd root, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  const UniqueFd parent = OpenParentBelow(root.get(), entry.path, true);
  if (!parent.valid()) {
    if (errno == ELOOP || errno == ENOTDIR) {
      return Invalid(doing + ": a folder above it is a symlink or a file by now")
          .WithHint("move it away");
    }
    return FromErrno(doing, errno);
  }
  const std::string name(BaseName(entry.path));
  Status status = entry.type == EntryType::kFolder ? WriteFolder(entry, parent.get(), name)
                                                   : Replace(store, entry, parent.get(), name);
  if (!status.ok()) return std::move(status).error().Wrap(doing);
  return {};
}

}  // namespace tenon::snapshot
