// SPDX-License-Identifier: Apache-2.0
// The values of our own keys of a .compute file that are about another machine. Errors say what can
// be written; the caller adds the place.
#ifndef TENON_PROJECT_FILES_HOST_KEYS_H_
#define TENON_PROJECT_FILES_HOST_KEYS_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::project {

// 1 to 65535.
Result<int64_t> ParsePort(const std::string& text);
// An absolute path on the machine.
Result<std::string> ParseTenonDirectory(const std::string& text);
// A line for the shell there.
Result<std::string> ParseSetupLine(const std::string& text);
// "30m", "2h": at least a minute. Microseconds.
Result<int64_t> ParseIdleAfter(const std::string& text);
Result<std::string> ParseIdleCommand(const std::string& text);

// The right one of these for a key of the file; `member` is that of whenIdle. Other keys are not
// looked at.
Status CheckHostKey(const std::string& key, const std::string& member, const std::string& value);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_HOST_KEYS_H_
