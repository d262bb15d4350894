// SPDX-License-Identifier: Apache-2.0
// Finds the machine behind a target of the project, and helpers for the commands about machines.
#ifndef TENON_CLI_TARGETS_TARGET_HOST_H_
#define TENON_CLI_TARGETS_TARGET_HOST_H_

#include <optional>
#include <string>

#include "base/json.h"
#include "cli/session.h"
#include "engine/host/attach_host.h"
#include "engine/host/hosts.h"
#include "engine/host/target_host.h"
#include "project/files/target.h"
#include "project/project.h"

namespace tenon::cli {

class OptionTable;

// The record of a target's machine, updated from the target's file. A password in clear text is
// stored for use, with a warning. If the machine is not recorded yet, returns a new record with an
// empty host_key and writes nothing. kInvalid: the target is this machine, or settings are wrong or
// not filled in.
Result<engine::HostRecord> HostForTarget(Session& session, const project::Project& project,
                                         const project::Target& target);
// The same, but kDenied if nobody has agreed to the machine's host key; the hint names the command
// for that.
Result<engine::HostRecord> KnownHostForTarget(Session& session, const project::Project& project,
                                              const project::Target& target);

// The id of the target's machine, ready for use; "" for this machine. If its host key was never
// agreed to and there is a terminal, asks about the key now and contacts the machine.
Result<std::string> HostOfTarget(Session& session, const project::Project& project,
                                 const project::Target& target);

// The id of a target's machine, recorded or not (engine::HostIdOfPlace); "" if it can't be
// determined.
std::string HostIdForTarget(const run::Home& home, const project::Target& target);
// Whether the machine's own target now leads to another machine. It is then kept only for its runs.
bool IsLeftBehind(const run::Home& home, const engine::HostRecord& host);

// --host-key and --accept-host-key.
struct HostKeyOptions {
  std::string expected;
  bool accept = false;
};
void AddHostKeyOptions(OptionTable& table, HostKeyOptions* options);
// Reads the machine's key and pins it in `host` if the user agrees, through an option or on the
// terminal. A key that is already pinned is not asked about. kDenied: the user did not agree, or
// there is no terminal; the hint has the fingerprint.
Status AgreeOnHostKey(Session& session, const HostKeyOptions& options, engine::HostRecord* host);

// Whether the file's password is a reference to an encrypted store.
bool HasReference(const project::Target& target);

// What the machine offers, as text for people and as JSON for programs. The JSON has only the names
// of environment variables, and of their values only PATH.
std::string FactsText(const engine::HostRecord& host);
json::Object FactsJson(const engine::HostRecord& host);
json::Object HostKeyJson(const engine::HostRecord& host);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_TARGET_HOST_H_
