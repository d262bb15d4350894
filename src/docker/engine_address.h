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

// Where the engine is, by the environment's DOCKER_HOST, DOCKER_CONTEXT, the current context of
// DOCKER_CONFIG or ~/.docker/config.json, else the first of the usual sockets that is there:
// Docker, rootless Docker, Podman of the user, Podman. `tcp://` and `ssh://` are kInvalid with a
// hint to attach that machine as `remotedocker`; no engine at all is kNotFound and says how to get
// one. Of several usual ones, one that lets us in wins over one that does not.
Result<EngineAddress> FindEngine(const Environment& environment);

// Why `socket` could not be connected to, with what to do about it. Keeps the kind.
Error ExplainDial(const std::string& socket, Error error);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_ENGINE_ADDRESS_H_
