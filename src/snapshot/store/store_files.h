// SPDX-License-Identifier: Apache-2.0
// The files of a store folder, and the locks that guard them.
#ifndef TENON_SNAPSHOT_STORE_STORE_FILES_H_
#define TENON_SNAPSHOT_STORE_STORE_FILES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"

namespace tenon::snapshot {

class StoreFiles {
 public:
  explicit StoreFiles(std::string folder) : folder_(std::move(folder)) {}
  StoreFiles(const StoreFiles&) = delete;
  StoreFiles& operator=(const StoreFiles&) = delete;

  const std::string& folder() const { return folder_; }
  std::string packs() const { return folder_ + "/packs"; }
  std::string objects() const { return folder_ + "/objects"; }
  std::string tmp() const { return folder_ + "/tmp"; }
  std::string rewrite_lock() const { return folder_ + "/rewrite.lock"; }
  std::string NewPackPath() const;
  // "objects/ab/cdef….raw" or ".zst"
  std::string LargePath(const Hash& hash, bool compressed) const;
  // The hash in a file name of objects/<two>/, and whether the file is compressed. Empty for other
  // names.
  static std::optional<std::pair<Hash, bool>> ParseLarge(std::string_view two,
                                                         std::string_view name);

  // Makes the folders. May be repeated.
  Status MakeFolders() const;

  // Holds an flock on the store while it lives. Nothing is removed from the store while anybody
  // holds a shared lock; hold it for microseconds only. One Lock at a time in this process. Where
  // the file system has no locks, LockShared() succeeds anyway and LockExclusive() fails with
  // kUnavailable.
  class Lock {
   public:
    Lock(Lock&&) = default;
    Lock& operator=(Lock&&) = default;
    ~Lock();

   private:
    friend class StoreFiles;
    Lock(std::unique_lock<std::mutex> guard, int fd) : guard_(std::move(guard)), fd_(fd) {}
    std::unique_lock<std::mutex> guard_;
    int fd_;
  };
  Result<Lock> LockShared() const { return TakeLock(false); }
  Result<Lock> LockExclusive() const { return TakeLock(true); }

  // Sets the modification time of a file to now. False: the file does not exist.
  static Result<bool> Touch(const std::string& path);

 private:
  Result<Lock> TakeLock(bool exclusive) const;

  std::string folder_;
  mutable std::mutex lock_mutex_;  // guards lock_fd_ and what is locked through it
  mutable UniqueFd lock_fd_;
};

// A folder below tmp/ for the files of one writer. A lock shows that the writer lives. The
// destructor removes the folder with everything left in it.
class WriterFolder {
 public:
  static Result<std::unique_ptr<WriterFolder>> Make(const StoreFiles& files);
  ~WriterFolder();
  WriterFolder(const WriterFolder&) = delete;
  WriterFolder& operator=(const WriterFolder&) = delete;

  // A new name in the folder. Not thread-safe.
  std::string NewPath();
  // The file system's present time in nanoseconds. Finds it by touching a file in the folder.
  Result<int64_t> Now();

  // Removes the folders of writers that have ended.
  static Status RemoveDead(const StoreFiles& files);

 private:
  WriterFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
  uint64_t next_ = 0;
};

// Nanoseconds of a timespec.
inline int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_STORE_FILES_H_
