// SPDX-License-Identifier: Apache-2.0
// Connects to the engine's socket, usually directly. Where only root and a group may connect, and
// `sudo -n` works for this user, it goes through a helper that runs as root: a program that joins
// its standard streams to the socket.
#ifndef TENON_DOCKER_DIAL_H_
#define TENON_DOCKER_DIAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::docker {

// Sets the helpers: commands that join their standard streams to an engine's socket, in the order
// they are tried. "{}" in a word stands for the socket's path. Call it before other threads start.
// No commands: only direct connections are tried.
void SetDialHelpers(std::vector<std::vector<std::string>> commands);

// Connects directly. Fails with kDenied when this user may not.
Result<UniqueFd> DialSocket(const std::string& socket, int timeout_ms);

// Connects directly or, where that is kDenied, through the first helper that works. The result is a
// socket either way: shutting down its writing side reaches the engine. When no helper works,
// returns the Error of the direct try, with the reason kHelpersFailed and a hint that says what was
// tried. The process remembers for each socket which helper works, or that none does.
inline constexpr std::string_view kHelpersFailed = "helpers-failed";
Result<UniqueFd> DialEngine(const std::string& socket, int timeout_ms);

// Whether DialEngine() has found a helper for this socket.
bool NeedsHelper(const std::string& socket);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_DIAL_H_
