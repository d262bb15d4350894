// SPDX-License-Identifier: Apache-2.0
// The values of our own keys of a .compute file: what a container gets of its machine. Errors say
// what can be written; the caller adds the place.
#ifndef TENON_PROJECT_FILES_CONTAINER_KEYS_H_
#define TENON_PROJECT_FILES_CONTAINER_KEYS_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::project {

// "all", "none", how many ("2"), or UUIDs with commas between; 0 means none.
Result<std::string> ParseGpus(const std::string& text);
// The same for the option --gpus, which errors then name.
Result<std::string> ParseGpusOption(const std::string& text);
// One GPU: GPU-…, MIG-…
Result<std::string> ParseGpuId(const std::string& text);
// "8g", "512m", "1.5g", "65536k": powers of 1024. A memory of less than 6 MB starts no program.
Result<int64_t> ParseMemory(const std::string& text);
Result<int64_t> ParseShmSize(const std::string& text);
// "2", "0.5", in units of 1e-9.
Result<int64_t> ParseCpus(const std::string& text);
// "nofile=1024", "nofile=1024:4096", "memlock=unlimited" → "memlock=-1".
Result<std::string> ParseUlimit(const std::string& text);
// "none", "host", "bridge", or the name of a network.
Result<std::string> ParseNetwork(const std::string& text);

// The right one of these for a key of the file, for one value or one item of a list; other keys
// are not looked at.
Status CheckContainerKey(const std::string& key, const std::string& value);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONTAINER_KEYS_H_
