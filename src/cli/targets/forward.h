// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_TARGETS_FORWARD_H_
#define TENON_CLI_TARGETS_FORWARD_H_

#include <string>

#include "base/result.h"

namespace tenon::cli {

// "6006" or "6006:8080": the port on the machine or in the run, and the local port (0: the same if
// it is free).
struct Ports {
  int there = 0;
  int here = 0;
};
Result<Ports> ParsePorts(const std::string& text);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_FORWARD_H_
