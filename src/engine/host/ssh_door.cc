// SPDX-License-Identifier: Apache-2.0
#include "engine/host/ssh_door.h"

#include "run/verbs.h"

namespace tenon::engine {
namespace {

// Quotes a command as one line that every login shell understands.
std::string QuotedCommand(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string command = "exec";
  for (const std::string& word : words) command += " " + transport::QuoteForAnyShell(word);
  return command;
}

}  // namespace

Result<WayIn> SshDoor::Enter(const std::vector<std::string>& words, bool tty) {
  TENON_TRY_VOID(ssh_.Connect());
  WayIn way;
  way.argv = ssh_.CommandLine({tty ? "-t" : "-T"}, QuotedCommand(words));
  way.environment = ssh_.CommandEnvironment();
  way.asks_us = true;
  way.logs_in = !ssh_.Shared();
  return way;
}

// Goes through a session of the SSH connection and our program on the machine, not through a port
// forwarding of ssh's. Servers may forbid forwardings (AllowTcpForwarding, PermitOpen) and say so
// only at the first use, and the process that keeps the connection would keep the port after we
// were killed.
Result<WayIn> SshDoor::ToPort(int port) {
  TENON_TRY_VOID(host_.Hello());
  return Enter({host_.agent_path(), std::string(run::kVerbDial), std::to_string(port)},
               /*tty=*/false);
}

Status SshDoor::Look() {
  TENON_TRY_VOID(host_.Hello());
  return {};
}

}  // namespace tenon::engine
