// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_SSH_DOOR_H_
#define TENON_ENGINE_HOST_SSH_DOOR_H_

#include <string>
#include <vector>

#include "engine/host/machine_door.h"
#include "transport/ssh.h"
#include "transport/ssh_host.h"

namespace tenon::engine {

// Each way is an ssh process of its own, over the shared connection where possible.
class SshDoor : public MachineDoor {
 public:
  // Both must outlive this object.
  SshDoor(transport::Ssh& ssh, transport::SshHost& host) : ssh_(ssh), host_(host) {}

  Result<WayIn> Enter(const std::vector<std::string>& words, bool tty) override;
  bool SharesLoopback() const override { return false; }
  Result<WayIn> ToPort(int port) override;
  Status Look() override;

 private:
  transport::Ssh& ssh_;
  transport::SshHost& host_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_SSH_DOOR_H_
