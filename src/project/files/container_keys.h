// SPDX-License-Identifier: Apache-2.0
// Parses our own keys of a .compute file about what a container gets of its machine. An error
// (always kInvalid) says what can be written; the caller adds the file and line.
#ifndef TENON_PROJECT_FILES_CONTAINER_KEYS_H_
#define TENON_PROJECT_FILES_CONTAINER_KEYS_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::project {

// "all", "none", a number ("2"), or UUIDs separated by commas. 0 becomes "none".
Result<std::string> ParseGpus(const std::string& text);
// The same for the option --gpus; errors then name the option.
Result<std::string> ParseGpusOption(const std::string& text);
// The UUID of one GPU: GPU-…, MIG-…
Result<std::string> ParseGpuId(const std::string& text);
// "8g", "512m", "1.5g", "65536k", in powers of 1024. Returns bytes. At least 6m: no program starts
// with less.
Result<int64_t> ParseMemory(const std::string& text);
Result<int64_t> ParseShmSize(const std::string& text);
// "2", "0.5": at least 0.01. Returns units of 1e-9 cores.
Result<int64_t> ParseCpus(const std::string& text);
// "nofile=1024", "nofile=1024:4096", "memlock=unlimited" → "memlock=-1".
Result<std::string> ParseUlimit(const std::string& text);
// "none", "host", "bridge", or the name of a network.
Result<std::string> ParseNetwork(const std::string& text);

// Checks one value, or one item of a list, with the function above that belongs to `key`. Accepts
// any other key.
Status CheckContainerKey(const std::string& key, const std::string& value);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_CONTAINER_KEYS_H_
