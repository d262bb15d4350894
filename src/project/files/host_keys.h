// SPDX-License-Identifier: Apache-2.0
// Parses our own keys of a .compute file about another machine. An error (always kInvalid) says
// what can be written; the caller adds the file and line.
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
// One line for the machine's shell.
Result<std::string> ParseSetupLine(const std::string& text);
// "30m", "2h": at least one minute. Returns microseconds.
Result<int64_t> ParseIdleAfter(const std::string& text);
Result<std::string> ParseIdleCommand(const std::string& text);

// Checks a value with the function above that belongs to `key`; `member` is the member of whenIdle,
// "" for other keys. Accepts any other key.
Status CheckHostKey(const std::string& key, const std::string& member, const std::string& value);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_HOST_KEYS_H_
