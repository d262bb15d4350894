// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_MACHINE_DOOR_H_
#define TENON_ENGINE_HOST_MACHINE_DOOR_H_

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace tenon::engine {

// A command to be started here, on whose standard streams something on a machine is.
struct WayIn {
  std::vector<std::string> argv;
  // With which it is started; nullopt: our own.
  std::optional<Environment> environment;
  // It may ask us for secrets, so we have to stay, with the machine, until it ends. Else it may
  // take our place.
  bool asks_us = false;
  // Each start is a login of its own there, which some servers count.
  bool logs_in = false;
};

// How somebody here gets onto a machine, beside the runs on it. Owned by its machine. Every call
// may be repeated.
class MachineDoor {
 public:
  virtual ~MachineDoor() = default;

  // The way to a command there; no words: a login shell. `tty`: it gets a terminal. Connects.
  virtual Result<WayIn> Enter(const std::vector<std::string>& words, bool tty) = 0;
  // The loopback address there is ours, so nobody needs a way to its ports.
  virtual bool SharesLoopback() const = 0;
  // The way to a port of the loopback address there, where that is not ours. The command ends with
  // 1 when nobody listens.
  virtual Result<WayIn> ToPort(int port) = 0;
  // Whether the machine can be reached now; keeps the connection that ways share. kUnavailable: it
  // may be later.
  virtual Status Look() = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_DOOR_H_
