// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_SSH_MACHINE_H_
#define TENON_ENGINE_HOST_SSH_MACHINE_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/data/far_files.h"
#include "engine/host/far_runs.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "engine/host/ssh_door.h"
#include "launch/direct_launch.h"
#include "launch/runner_services.h"
#include "transport/ssh.h"
#include "transport/ssh_host.h"

namespace tenon::engine {

// The answers to ssh's questions: the host's secrets from the store, and what the user types.
transport::SshSecrets SecretsFor(Context& context, const HostRecord& host);

// A machine over SSH: its record, and an agent on it that carries out requests
// (transport/ssh_host.h). After a lost link the next call connects again.
class SshMachine : public Machine {
 public:
  // Returns a machine whose key is pinned; fails with kDenied when it is not. A machine that was
  // reached before is not contacted until its first call. A new one gets a runner and is asked what
  // it offers (Probe()); if the host has a record, the answers are remembered. `context` must
  // outlive the machine.
  static Result<std::unique_ptr<SshMachine>> Reach(Context& context, const HostRecord& host,
                                                   transport::SshSecrets secrets);

  void Open() override;
  // Sends only what the host's last known tree lacks. Also asks for the idle watcher.
  Handover Start(launch::StartRequest request, Reporter& reporter) override;
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return *door_; }
  // Uses a new ssh connection, as a login of the user would.
  Result<json::Object> Probe() override;
  bool MayHave(const std::string&) const override { return true; }

  // Ends the session with the agent and the connection that other commands share.
  void Disconnect();

 private:
  SshMachine(Context& context, const HostRecord& host, transport::SshTarget target,
             transport::SshSecrets secrets);
  // To be called when the machine's folder and its kind of processor are known.
  void MakeLaunch();
  void NoteStarted(const run::RunSpec& spec, const run::RunnerStarted& runner, Reporter& reporter);

  Context& context_;
  transport::Ssh ssh_;
  std::unique_ptr<transport::SshHost> ssh_host_;
  std::unique_ptr<launch::RunnerCalls> calls_;
  std::unique_ptr<launch::DirectLaunch> launch_;
  std::unique_ptr<launch::RunnerServices> services_;
  FarRuns runs_{context_, *this};
  FarFiles files_{context_, *this};
  std::unique_ptr<SshDoor> door_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_SSH_MACHINE_H_
