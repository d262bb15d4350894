// SPDX-License-Identifier: Apache-2.0
// Opens files where others may have put something else. ReadFile() (base/file.h) takes the same
// care: it fails with kInvalid on a FIFO, so that it never waits for somebody to write.
#ifndef TENON_BASE_REGULAR_FILE_H_
#define TENON_BASE_REGULAR_FILE_H_

#include <sys/stat.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// open(2) of a path that must be a regular file. Fails with kCorrupt for a folder, FIFO, socket or
// device, and with O_NOFOLLOW also for a symlink; the message names what it is. Never waits.
Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode = 0644);

// Reads a path of any kind, FIFOs too, up to its end, and waits for the end. For names that a user
// typed. Fails with kInvalid when there is more than `limit`.
Result<std::string> ReadStream(const std::string& path, size_t limit);

}  // namespace tenon

#endif  // TENON_BASE_REGULAR_FILE_H_
