// SPDX-License-Identifier: Apache-2.0
// From what a target's file says of its machine to what is remembered of that machine. Nothing is
// printed and nobody is asked, so any program can submit to another machine.
#ifndef TENON_ENGINE_HOST_TARGET_HOST_H_
#define TENON_ENGINE_HOST_TARGET_HOST_H_

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/host/attach_host.h"
#include "engine/host/hosts.h"

namespace tenon::engine {

// The id of the place that a target's file names. `file` has what the file says, and the id of its
// `password:` reference. If the account or tenonDirectory differs from that at attach, the place is
// another one with other runs, so it gets an id of its own; earlier runs still lead to the old
// place.
std::string HostIdOfPlace(const run::Home& home, const HostRecord& file);

// Sets file->id to that id. A new place on a known machine inherits what is known (InheritHost).
Status FindPlace(Context& context, HostRecord* file);
// Records what is known of a machine under another id of it (`file`): the agreed key, and, for the
// same user, the secrets.
Status InheritHost(Context& context, HostRecord known, const HostRecord& file);

// Whether the project still has a target of that name.
using IsTarget = std::function<bool(const std::string& project_root, const std::string& target)>;
// Returns what is remembered of the machine, brought up to date with its file; the record is
// updated too. If there is no record, returns `file`, whose host_key is empty, and writes nothing.
Result<HostRecord> RememberedHost(Context& context, const HostRecord& file,
                                  const IsTarget& is_target);

// The id for a target that is being attached. `before`: what its file said until now; nullopt:
// there was no file. Returns the old id for the same user on the same machine: with `look` the
// machine's host key decides, if the machine shows it; otherwise the address and port do. Else
// returns a new id; the record of the old machine stays, for its runs.
Result<std::string> IdForAttach(Context& context, const std::optional<HostRecord>& before,
                                const HostRecord& now, bool look);

// Stores a password that a file has in clear text where ssh's questions are answered from. Does
// nothing when the store has it already.
Status KeepPassword(Context& context, const HostRecord& host, const std::string& password);

// How the user agrees to a machine's key.
struct KeyAgreement {
  // "SHA256:…": the key must have this fingerprint. "" = any; then `ask` decides. Empty `ask`:
  // nobody is there to ask.
  std::string expected;
  std::function<bool(const HostKey& key, bool changed)> ask;
};
// Returns the fingerprint as "SHA256:…". Fails with kInvalid when the text is no fingerprint.
Result<std::string> NormalFingerprint(const std::string& text);
// Looks at the machine's key and sets host->host_key to it if the user agrees. A key that is pinned
// already needs no question, unless `expected` is set. Fails with kDenied when the user does not
// agree or nobody can be asked; the hint then has the fingerprint.
Status AgreeOnHostKey(Context& context, const KeyAgreement& how, HostRecord* host);

// Returns "203.0.113.7:2222", or the address alone without a port.
std::string PlaceText(const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_TARGET_HOST_H_
