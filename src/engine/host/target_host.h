// SPDX-License-Identifier: Apache-2.0
// From what a target's file says of its machine to what is remembered of that machine. Nothing is
// printed and nobody is asked, so that any program can submit to another machine.
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

// The id that leads to the place a file names; `file` has what it says, and the id of its
// reference. Another account or another tenonDirectory than at attach is another place, whose runs
// are others, so it has an id of its own; runs of before still lead to where they are.
std::string HostIdOfPlace(const run::Home& home, const HostRecord& file);

// Gives `file` that id. A place that is new, of a machine that is known, inherits what is known.
Status FindPlace(Context& context, HostRecord* file);
// What is known of a machine, for another id of it: the agreed key, and secrets of the same user.
Status InheritHost(Context& context, HostRecord known, const HostRecord& file);

// Whether a target of that name is still in a project there.
using IsTarget = std::function<bool(const std::string& project_root, const std::string& target)>;
// What is remembered of the machine, brought up to date with its file. Not recorded yet: `file`,
// whose host_key is empty; nothing is written.
Result<HostRecord> RememberedHost(Context& context, const HostRecord& file,
                                  const IsTarget& is_target);

// The id for a target that is attached, whose file said `before` until now (nullopt: there was
// none): of the same machine, where it is the same user and the same host key, as far as that can
// be asked (`look`); else a new one, and what is known of the old machine stays, for its runs.
Result<std::string> IdForAttach(Context& context, const std::optional<HostRecord>& before,
                                const HostRecord& now, bool look);

// Keeps a password that a file has in clear text where ssh's questions are answered from. Nothing
// to do when it is there already.
Status KeepPassword(Context& context, const HostRecord& host, const std::string& password);

// How a machine's key is agreed to.
struct KeyAgreement {
  // "SHA256:…": it must be this one. "" = any; then `ask` decides, empty: nobody is there to.
  std::string expected;
  std::function<bool(const HostKey& key, bool changed)> ask;
};
// "SHA256:…" of a fingerprint as a user may write it. kInvalid: it is none.
Result<std::string> NormalFingerprint(const std::string& text);
// Looks at the machine's key and pins it in `host` if it is agreed to. A key that is pinned already
// needs no question. kDenied: not agreed to, or nobody to ask; the hint has the fingerprint.
Status AgreeOnHostKey(Context& context, const KeyAgreement& how, HostRecord* host);

// "203.0.113.7:2222".
std::string PlaceText(const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_TARGET_HOST_H_
