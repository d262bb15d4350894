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

// What may be told to ssh when it asks: the host's secrets from the store, and the user.
transport::SshSecrets SecretsFor(Context& context, const HostRecord& host);

// A machine over SSH: what is remembered of it, and an agent there that carries out what is asked
// (transport/ssh_host.h). A lost link is connected anew by the next call.
class SshMachine : public Machine {
 public:
  // Reaches a machine whose key is pinned (kDenied when it is not). One that was reached before is
  // not contacted yet: the first call does that. One that was not gets a runner and is asked what
  // it offers (Probe()), and the answers are remembered if the host is recorded. `context` must
  // outlive the machine.
  static Result<std::unique_ptr<SshMachine>> Reach(Context& context, const HostRecord& host,
                                                   transport::SshSecrets secrets);

  void Open() override;
  // The host's last known tree says what need not be sent. Asks for the idle watch, too.
  Handover Start(launch::StartRequest request, Reporter& reporter) override;
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return *door_; }
  // With an ssh of its own, as the user would log in.
  Result<json::Object> Probe() override;
  bool MayHave(const std::string&) const override { return true; }

  // Ends the conversation and the connection that is shared with others.
  void Disconnect();

 private:
  SshMachine(Context& context, const HostRecord& host, transport::SshTarget target,
             transport::SshSecrets secrets);
  // What its folder there and its kind of processor are is known by now.
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
