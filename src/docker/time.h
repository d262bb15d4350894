// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_TIME_H_
#define TENON_DOCKER_TIME_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::docker {

// "2024-01-02T03:04:05.123456789Z", "…+01:00" → microseconds since 1970. nullopt for other text and
// for times before 1970, with which an engine says "never".
std::optional<int64_t> ParseTime(const std::string& text);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_TIME_H_
