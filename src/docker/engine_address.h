// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_ENGINE_ADDRESS_H_
#define TENON_DOCKER_ENGINE_ADDRESS_H_

#include <string>

#include "base/process.h"
#include "base/result.h"

namespace tenon::docker {

struct EngineAddress {
  std::string socket;  // path of a Unix socket
  std::string from;    // "DOCKER_HOST", "the context rootless", "the usual place"
};

// Finds the engine. In this order: DOCKER_HOST; the context that DOCKER_CONTEXT names; the current
// context in config.json of the folder DOCKER_CONFIG or ~/.docker; the usual sockets of Docker,
// rootless Docker, the user's Podman and Podman. Of the usual sockets the first that lets us
// connect wins, else the first that exists. `tcp://` and `ssh://` are kInvalid, with a hint to
// attach that machine as `remotedocker`. No engine at all is kNotFound, with a hint how to get one.
Result<EngineAddress> FindEngine(const Environment& environment);

// Turns the Error of a failed connection to `socket` into one that says what to do. Keeps the kind.
Error ExplainDial(const std::string& socket, Error error);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_ENGINE_ADDRESS_H_
