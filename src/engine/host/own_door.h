// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_OWN_DOOR_H_
#define TENON_ENGINE_HOST_OWN_DOOR_H_

#include <string>
#include <vector>

#include "engine/host/machine_door.h"

namespace tenon::engine {

// The door of this machine: commands are started directly.
class OwnDoor : public MachineDoor {
 public:
  Result<WayIn> Enter(const std::vector<std::string>& words, bool tty) override;
  bool SharesLoopback() const override { return true; }
  Result<WayIn> ToPort(int port) override;
  Status Look() override { return {}; }
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_OWN_DOOR_H_
