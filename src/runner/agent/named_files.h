// SPDX-License-Identifier: Apache-2.0
// Reads the paths and files that requests to the agent name.
#ifndef TENON_RUNNER_AGENT_NAMED_FILES_H_
#define TENON_RUNNER_AGENT_NAMED_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::runner {

// The absolute path in the member `key`. kInvalid: it is missing or not absolute.
Result<std::string> PathOf(const json::Object& object, std::string_view key = "path");

struct NamedFile {
  std::string path;
  uint64_t position = 0;
  // `crc` is the CRC-32C of the `checked` bytes before the position, as the client has them. 0:
  // there is nothing to check.
  uint64_t checked = 0;
  uint32_t crc = 0;
};

// Reads the member `files`, a list of 1 to 1024 files. `position` names the member that holds a
// file's position. kInvalid: the list is missing or not valid.
Result<std::vector<NamedFile>> FilesOf(const json::Object& request, std::string_view position);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_NAMED_FILES_H_
