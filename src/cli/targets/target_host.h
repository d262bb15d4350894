// SPDX-License-Identifier: Apache-2.0
// From a target of the project to the machine behind it, and what the commands about machines have
// in common.
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

// The machine of a target as its file says now: what is remembered about it brought up to date, a
// password in clear text used (with a warning). Not recorded yet: a record with an empty host_key,
// not written. kInvalid: no machine, or something is still to be filled in.
Result<engine::HostRecord> HostForTarget(Session& session, const project::Project& project,
                                         const project::Target& target);
// The same for use: kDenied when its key was never agreed to, with the command that does it.
Result<engine::HostRecord> KnownHostForTarget(Session& session, const project::Project& project,
                                              const project::Target& target);

// The id of the machine that a target leads to, ready to be reached; "" = this one. One that nobody
// has looked at from here is looked at now, if somebody is at the terminal to agree to its key.
Result<std::string> HostOfTarget(Session& session, const project::Project& project,
                                 const project::Target& target);

// The id a target's machine has, known or not (engine::HostIdOfPlace); "" when it cannot be told.
std::string HostIdForTarget(const run::Home& home, const project::Target& target);
// A machine that is kept for its runs only: its own target leads elsewhere now.
bool IsLeftBehind(const run::Home& home, const engine::HostRecord& host);

// --host-key and --accept-host-key.
struct HostKeyOptions {
  std::string expected;
  bool accept = false;
};
void AddHostKeyOptions(OptionTable& table, HostKeyOptions* options);
// Looks at the machine's key and pins it in `host` if the user agrees: beforehand by an option,
// else on the terminal. A key that is pinned already needs no question. kDenied: not agreed to, or
// nobody to ask; the hint has the fingerprint.
Status AgreeOnHostKey(Session& session, const HostKeyOptions& options, engine::HostRecord* host);

// Whether the file names a password that lies in somebody's store.
bool HasReference(const project::Target& target);

// What the machine offers: for people, and for programs (without the values of its environment).
std::string FactsText(const engine::HostRecord& host);
json::Object FactsJson(const engine::HostRecord& host);
json::Object HostKeyJson(const engine::HostRecord& host);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_TARGET_HOST_H_
