// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/store_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace tenon::snapshot {
namespace {

// True: locked. False: another process holds the lock (only with LOCK_NB).
Result<bool> Flock(int fd, int operation, const std::string& path) {
  while (::flock(fd, operation) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    return FromErrno("lock " + path, errno);
  }
  return true;
}

}  // namespace

std::string StoreFiles::NewPackPath() const { return packs() + "/" + RandomHex(16) + ".pack"; }

std::string StoreFiles::LargePath(const Hash& hash, bool compressed) const {
  const std::string hex = hash.Hex();
  return objects() + "/" + hex.substr(0, 2) + "/" + hex.substr(2) + (compressed ? ".zst" : ".raw");
}

std::optional<std::pair<Hash, bool>> StoreFiles::ParseLarge(std::string_view two,
                                                            std::string_view name) {
  if (two.size() != 2 || name.size() != 66) return std::nullopt;
  const std::string_view suffix = name.substr(62);
  if (suffix != ".raw" && suffix != ".zst") return std::nullopt;
  const auto hash = Hash::FromHex(std::string(two) + std::string(name.substr(0, 62)));
  if (!hash) return std::nullopt;
  return std::make_pair(*hash, suffix == ".zst");
}

Status StoreFiles::MakeFolders() const {
  TENON_TRY_VOID(MakeDirs(folder_, 0700));
  TENON_TRY_VOID(MakeDirs(packs(), 0700));
  TENON_TRY_VOID(MakeDirs(objects(), 0700));
  return MakeDirs(tmp(), 0700);
}

Result<StoreFiles::Lock> StoreFiles::TakeLock(bool exclusive) const {
  std::unique_lock<std::mutex> guard(lock_mutex_);
  const std::string path = folder_ + "/lock";
  if (!lock_fd_.valid()) {
    TENON_TRY(lock_fd_, OpenFile(path, O_RDWR | O_CREAT, 0600));
  }
  auto locked = Flock(lock_fd_.get(), exclusive ? LOCK_EX : LOCK_SH, path);
  if (!locked.ok() && exclusive) {
    return Unavailable(locked.error().message)
        .WithHint("the file system of the store has no locks, so nothing is removed from it");
  }
  return Lock(std::move(guard), lock_fd_.get());
}

StoreFiles::Lock::~Lock() {
  if (guard_.owns_lock()) ::flock(fd_, LOCK_UN);
}

Result<bool> StoreFiles::Touch(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return true;
  if (errno == ENOENT) return false;
  return FromErrno("mark " + path + " as in use", errno);
}

Result<std::unique_ptr<WriterFolder>> WriterFolder::Make(const StoreFiles& files) {
  const std::string path = files.tmp() + "/" + RandomHex(16);
  // The store's lock keeps RemoveDead() from taking the new folder for that of a dead writer before
  // the folder's own lock is held.
  TENON_TRY(const StoreFiles::Lock guard, files.LockShared());
  if (::mkdir(path.c_str(), 0700) != 0) return FromErrno("make folder " + path, errno);
  auto lock = OpenFile(path + "/lock", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!lock.ok()) {
    ::rmdir(path.c_str());
    return std::move(lock).error();
  }
  // Ignored on file systems without locks: nobody removes anything there, see LockExclusive().
  (void)Flock(lock->get(), LOCK_EX | LOCK_NB, path).ok();
  return std::unique_ptr<WriterFolder>(new WriterFolder(path, std::move(*lock)));
}

WriterFolder::~WriterFolder() { (void)RemoveTree(path_).ok(); }

std::string WriterFolder::NewPath() { return path_ + "/" + std::to_string(next_++); }

Result<int64_t> WriterFolder::Now() {
  struct stat info;
  if (::futimens(lock_.get(), nullptr) != 0 || ::fstat(lock_.get(), &info) != 0) {
    return FromErrno("read the time of the file system at " + path_, errno);
  }
  return Nanoseconds(info.st_mtim);
}

Status WriterFolder::RemoveDead(const StoreFiles& files) {
  TENON_TRY(const StoreFiles::Lock guard, files.LockExclusive());
  TENON_TRY(const auto names, ListDir(files.tmp()));
  for (const std::string& name : names) {
    const std::string path = files.tmp() + "/" + name;
    auto lock = OpenFile(path + "/lock", O_RDWR);
    if (lock.ok()) {
      TENON_TRY(const bool dead, Flock(lock->get(), LOCK_EX | LOCK_NB, path));
      if (!dead) continue;
    } else if (lock.error().kind != ErrorKind::kNotFound) {
      continue;
    }
    TENON_TRY_VOID(RemoveTree(path));
  }
  return {};
}

}  // namespace tenon::snapshot
