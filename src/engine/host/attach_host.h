// SPDX-License-Identifier: Apache-2.0
// Attaching another machine, step by step, without printing anything: look at its key, let the
// caller agree with the user, log in, ask what the machine offers, remember it. No secret is sent
// before the user has agreed to the key. A login that fails leaves nothing behind.
#ifndef TENON_ENGINE_HOST_ATTACH_HOST_H_
#define TENON_ENGINE_HOST_ATTACH_HOST_H_

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/host/hosts.h"
#include "engine/host/other_machines.h"
#include "transport/address.h"

namespace tenon::engine {

// Names that callers of this header need.
using transport::CheckLoginName;
using transport::MachineAddress;
using transport::ParseHostKey;
using transport::ParseMachineAddress;

// Returns "me on 203.0.113.7 (my_dsvm)".
std::string LoginText(const HostRecord& host);

// Logs in to a machine whose key the user has agreed to (`host.host_key`) and asks what it offers.
// `secrets` has the given secrets; what the user types for this login (context.ask_user) is added
// to it. Returns the record with what was learned, not yet written. Fails with kDenied when runs
// can't be made in the machine's folder. On failure nothing has changed.
Result<HostRecord> TryHost(Context& context, HostRecord host, GivenSecrets* secrets);

// Adds advice to the Error of a refused login when our store has no password for the machine.
// `by_reference`: the target's file refers to a password, so whoever attached the target may have
// it.
Error ExplainDenied(Error error, const HostRecord& host, bool by_reference);
// Whether another password may help, so that the advice is to store one.
bool WantsPassword(const Error& error);
// Whether the machine accepts keys only, so a password is of no use.
bool TakesKeysOnly(const Error& error);

// Writes the record and the secrets. With a password it sets `has_password` in the record.
Status RememberHost(Context& context, HostRecord host, const GivenSecrets& secrets);
// Ends the kept connection and removes the secrets, the key made for the machine and the record.
Status ForgetEverything(Context& context, const std::string& host_id);
// The same for a machine that was tried and did not become a target. Failures are ignored.
void ForgetTrial(Context& context, const HostRecord& host);

struct KeyPair {
  std::string file;         // of the private key, 0600, without a passphrase
  std::string public_line;  // "ssh-ed25519 AAAA… tenon my_dsvm"
};
// Returns this host's key pair under <home>/keys; makes it first if needed.
Result<KeyPair> MakeKeyPair(Context& context, const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_ATTACH_HOST_H_
