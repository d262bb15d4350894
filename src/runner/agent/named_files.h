// SPDX-License-Identifier: Apache-2.0
// What requests to the agent say of files.
#ifndef TENON_RUNNER_AGENT_NAMED_FILES_H_
#define TENON_RUNNER_AGENT_NAMED_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::runner {

// An absolute path. kInvalid: there is none.
Result<std::string> PathOf(const json::Object& object, std::string_view key = "path");

struct NamedFile {
  std::string path;
  uint64_t position = 0;
  // CRC-32C of so many bytes before the position, as the client has them. 0: not to be checked.
  uint64_t checked = 0;
  uint32_t crc = 0;
};

// The list `files`, a thousand at most; `position` is the name of that member. kInvalid: it is
// none.
Result<std::vector<NamedFile>> FilesOf(const json::Object& request, std::string_view position);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_NAMED_FILES_H_
