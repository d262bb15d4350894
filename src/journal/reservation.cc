// SPDX-License-Identifier: Apache-2.0
#include "journal/reservation.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/durable.h"
#include "base/file.h"
#include "journal/format.h"

namespace tenon::journal {
namespace {

constexpr uint64_t kSmallestPiece = 256u << 10;
constexpr uint64_t kLargestPiece = 8u << 20;

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

uint64_t LargestFile() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// Bytes that no file system can compress.
std::string Incompressible(size_t size) {
  std::string bytes(size, '\0');
  uint64_t x = 0x9e3779b97f4a7c15;
  for (char& c : bytes) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    c = static_cast<char>(x >> 32);
  }
  return bytes;
}

}  // namespace

Reservation::Reservation(int fd, std::string path, bool allocate_ahead, bool beside)
    : fd_(fd),
      path_(std::move(path)),
      file_(path_ + ".reserve"),
      allocate_ahead_(allocate_ahead),
      beside_(beside),
      largest_(LargestFile()) {}

Status Reservation::Ensure(uint64_t end, uint64_t bytes) {
  const uint64_t needed = end + bytes + kReserve;
  // Space beyond the limit can be allocated but not written to.
  if (needed > largest_) return FromErrno("reserve space for " + path_, EFBIG);
  if (!allocate_ahead_) return EnsureFile();
  if (allocated_end_ >= needed) return {};
  // A quarter of the current size: small runs take little space, large ones rarely allocate.
  const uint64_t piece = std::clamp(end / 4, kSmallestPiece, kLargestPiece);
  if (Allocate(end, std::min(needed + piece, largest_)).ok()) return {};
  if (!allocate_ahead_) return EnsureFile();
  return Allocate(end, needed);
}

Status Reservation::Allocate(uint64_t end, uint64_t until) {
  const uint64_t from = std::max(end, allocated_end_);
  while (::fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                     static_cast<off_t>(until - from)) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    if (!IsFull(error)) allocate_ahead_ = false;  // not supported: use the file beside
    return FromErrno("reserve space for " + path_, error);
  }
  allocated_end_ = until;
  return {};
}

Status Reservation::EnsureFile() {
  if (file_there_ || !beside_) return {};
  struct stat info;
  if (::lstat(file_.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == kReserve) {
    file_there_ = true;  // left by a writer that was killed
    return {};
  }
  auto make = [&]() -> Status {
    TENON_TRY(UniqueFd fd, OpenFile(file_, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    TENON_TRY_VOID(WriteAll(fd.get(), Incompressible(kReserve)));
    if (DurableFdatasync(fd.get()) != 0) return FromErrno("fdatasync", errno);
    return {};
  };
  Status made = make();
  if (!made.ok()) {
    ::unlink(file_.c_str());
    return std::move(made).error().Wrap("reserve space for " + path_);
  }
  file_there_ = true;
  return {};
}

bool Reservation::Open() {
  if (!file_there_) return false;
  file_there_ = false;
  return ::unlink(file_.c_str()) == 0;
}

void Reservation::GiveBack(uint64_t end) {
  Open();
  // Truncating a file to its own size frees what was allocated beyond it. A failure costs only disk
  // space.
  if (allocated_end_ > end && ::ftruncate(fd_, static_cast<off_t>(end)) != 0) return;
  allocated_end_ = end;
}

}  // namespace tenon::journal
