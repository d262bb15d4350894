// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_LOCAL_MACHINE_H_
#define TENON_ENGINE_HOST_LOCAL_MACHINE_H_

#include <string>

#include "engine/context.h"
#include "engine/data/own_files.h"
#include "engine/host/machine.h"
#include "engine/host/own_door.h"
#include "engine/host/own_runs.h"

namespace tenon::engine {

// This machine. Its home is our home, so nothing is copied, and there is no link to lose.
class LocalMachine : public Machine {
 public:
  // `context` must outlive this object. Its host, launch and services must be set already.
  explicit LocalMachine(Context& context);

  void Open() override {}
  Handover Start(launch::StartRequest request, Reporter& reporter) override;
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return door_; }
  Result<json::Object> Probe() override;
  bool MayHave(const std::string& path) const override;

 private:
  OwnRuns runs_;
  OwnFiles files_;
  OwnDoor door_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_LOCAL_MACHINE_H_
