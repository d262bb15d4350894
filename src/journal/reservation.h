// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_RESERVATION_H_
#define TENON_JOURNAL_RESERVATION_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::journal {

// Keeps kReserve bytes of disk space beyond a segment's end, for the records that must not fail.
// Where the file system supports fallocate, the space is allocated in the segment file itself,
// without changing its size. Otherwise a file beside the segment (`<path>.reserve`) holds the
// space. The limit on the size of files (ulimit -f) counts as the end of the disk. For one thread.
class Reservation {
 public:
  // `fd` stays the caller's. `allocate_ahead` false: act as on a file system without fallocate.
  // `beside` false: make no file beside the segment; then nothing is reserved where fallocate does
  // not work.
  Reservation(int fd, std::string path, bool allocate_ahead, bool beside = true);

  // Makes sure that `bytes` can be appended at `end` with the reserve still free afterwards.
  // kUnavailable when the disk has no room for both; what was reserved before stays reserved. May
  // be repeated.
  Status Ensure(uint64_t end, uint64_t bytes);
  // Releases the reserve for use. Returns true when this removed the file beside the segment: the
  // caller then tries to write again.
  bool Open();
  // The caller has cut the file to `end`, which also freed what was allocated beyond it.
  void Forget(uint64_t end) { allocated_end_ = end; }
  // Gives everything beyond `end` back to the file system, and removes the file beside the segment.
  void GiveBack(uint64_t end);

 private:
  Status Allocate(uint64_t end, uint64_t until);
  Status EnsureFile();

  int fd_;
  std::string path_;
  std::string file_;  // the file beside the segment
  bool allocate_ahead_;
  bool beside_;
  uint64_t largest_;  // limit on the size of a file (ulimit -f)
  bool file_there_ = false;
  uint64_t allocated_end_ = 0;
};

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_RESERVATION_H_
