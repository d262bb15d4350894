// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_RESERVATION_H_
#define TENON_JOURNAL_RESERVATION_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::journal {

// Keeps kReserve bytes of disk beyond a segment's end for the records that must not fail. Allocated
// ahead in the file itself where the file system can do that (fallocate, size unchanged), else held
// by a file beside it. The limit on the size of files (ulimit -f) counts as the end of the disk.
// One thread.
class Reservation {
 public:
  // `fd` stays the caller's. `allocate_ahead` false: as on a file system that cannot. `beside`
  // false: reserve nothing there.
  Reservation(int fd, std::string path, bool allocate_ahead, bool beside = true);

  // Makes sure that `bytes` can be appended at `end` and the reserve is still there afterwards.
  // kUnavailable when the disk is too full for both; what was reserved stays so.
  Status Ensure(uint64_t end, uint64_t bytes);
  // The reserve may now be used. True when that freed space which writing needs to be tried again
  // for.
  bool Open();
  // The file was cut to `end`, and with it what lay beyond.
  void Forget(uint64_t end) { allocated_end_ = end; }
  // Gives everything beyond `end` back to the file system.
  void GiveBack(uint64_t end);

 private:
  Status Allocate(uint64_t end, uint64_t until);
  Status EnsureFile();

  int fd_;
  std::string path_;
  std::string file_;  // the one beside
  bool allocate_ahead_;
  bool beside_;
  uint64_t largest_;  // size that this program may give a file
  bool file_there_ = false;
  uint64_t allocated_end_ = 0;
};

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_RESERVATION_H_
