// SPDX-License-Identifier: Apache-2.0
// Opening files where others may have put something else. What base/file.h reads as a whole
// (ReadFile) is held to the same: a FIFO is kInvalid there, so that nothing waits for somebody to
// write.
#ifndef TENON_BASE_REGULAR_FILE_H_
#define TENON_BASE_REGULAR_FILE_H_

#include <sys/stat.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// open(2) of a file that must be a regular one: a folder, FIFO, socket or device is kCorrupt and is
// named as what it is, and with O_NOFOLLOW so is a symlink. Never waits.
Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode = 0644);

// Whatever has that name, FIFOs too, up to its end, which is waited for. For names that a user
// typed. Larger than `limit`: kInvalid.
Result<std::string> ReadStream(const std::string& path, size_t limit);

}  // namespace tenon

#endif  // TENON_BASE_REGULAR_FILE_H_
