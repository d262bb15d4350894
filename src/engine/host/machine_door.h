// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_MACHINE_DOOR_H_
#define TENON_ENGINE_HOST_MACHINE_DOOR_H_

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace tenon::engine {

// A command to start on this machine. Its standard streams lead to something on another machine,
// such as a command or a port.
struct WayIn {
  std::vector<std::string> argv;
  // The environment to start it with; nullopt: our own.
  std::optional<Environment> environment;
  // The command may ask this process for secrets, so this process and the machine object have to
  // stay until it ends. Otherwise the command may replace this process (exec).
  bool asks_us = false;
  // Each start is a login of its own on the machine. Some servers limit those.
  bool logs_in = false;
};

// How a user gets onto a machine, apart from runs. Owned by its machine. Every call may be
// repeated.
class MachineDoor {
 public:
  virtual ~MachineDoor() = default;

  // The way to a command on the machine; no words: a login shell. `tty`: it gets a terminal.
  // Connects to the machine.
  virtual Result<WayIn> Enter(const std::vector<std::string>& words, bool tty) = 0;
  // Whether the machine's loopback address is that of this process, so its ports need no way.
  virtual bool SharesLoopback() const = 0;
  // The way to a port of the machine's loopback address. Fails with kInvalid when SharesLoopback().
  // The command exits with 1 when nothing listens on the port.
  virtual Result<WayIn> ToPort(int port) = 0;
  // Whether the machine can be reached now. Keeps the connection that the ways share. Fails with
  // kUnavailable when it may be reachable later.
  virtual Status Look() = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_DOOR_H_
