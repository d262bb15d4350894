// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_FORWARD_H_
#define TENON_CLI_FORWARD_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::cli {

// "6006" or "6006:8080": the port there, and the one here (0: the same if it is free).
struct Ports {
  int there = 0;
  int here = 0;
};
Result<Ports> ParsePorts(const std::string& text);

// The address a container has in its own network, from the text of its /etc/hosts; nullopt when the
// engine has written none. `id`: of the container, whose beginning is its host name.
std::optional<std::string> AddressIn(std::string_view hosts, const std::string& id);

}  // namespace tenon::cli

#endif  // TENON_CLI_FORWARD_H_
