// SPDX-License-Identifier: Apache-2.0
// How the engine's socket is reached. Usually by connecting to it. Where only root and a group may,
// and `sudo -n` works for this user, a helper that runs as root is asked to: a program that joins
// its standard streams to the socket.
#ifndef TENON_DOCKER_DIAL_H_
#define TENON_DOCKER_DIAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::docker {

// Commands that join their standard streams to an engine's socket, in the order they are tried;
// "{}" in a word stands for the socket's path. To be set before there are threads. None: only
// direct connections.
void SetDialHelpers(std::vector<std::vector<std::string>> commands);

// A connection to the socket itself. kDenied: not for this user.
Result<UniqueFd> DialSocket(const std::string& socket, int timeout_ms);

// The same; where that is kDenied through the first helper that gets through. The result is a
// socket either way: shutting down its writing side reaches the engine. When no helper gets through
// the Error is the first one, with the reason kHelpersFailed and a hint that says what was tried.
// Which helper works is remembered for as long as the process lives.
inline constexpr std::string_view kHelpersFailed = "helpers-failed";
Result<UniqueFd> DialEngine(const std::string& socket, int timeout_ms);

// Whether DialEngine() goes through a helper there.
bool NeedsHelper(const std::string& socket);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_DIAL_H_
