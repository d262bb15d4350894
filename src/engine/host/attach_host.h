// SPDX-License-Identifier: Apache-2.0
// Getting to know another machine, step by step and without a word printed: look at its key, let
// the caller agree with the user, log in, ask what it offers, remember it. Before the key is agreed
// to no secret is sent; a login that fails leaves nothing behind.
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

// Words that those above need.
using transport::CheckLoginName;
using transport::MachineAddress;
using transport::ParseHostKey;
using transport::ParseMachineAddress;

// "me on 203.0.113.7 (my_dsvm)".
std::string LoginText(const HostRecord& host);

// Logs in to a machine whose key is agreed to (`host.host_key`) and asks what it offers. `secrets`:
// those given; what the user types for this very login (context.ask_user) is put there too. Returns
// the record with what was learned, not written yet. On failure everything is as before.
Result<HostRecord> TryHost(Context& context, HostRecord host, GivenSecrets* secrets);

// A login that was refused, with what can be done where the password is not in our store. The
// target's file has a reference to one (`by_reference`), so whoever attached it may have it.
Error ExplainDenied(Error error, const HostRecord& host, bool by_reference);
// Whether another password may help, so that the advice is to store one.
bool WantsPassword(const Error& error);
// Whether the machine has no use for the password that was given.
bool TakesKeysOnly(const Error& error);

// Writes the record and the secrets. `has_password` of the record becomes true with one.
Status RememberHost(Context& context, HostRecord host, const GivenSecrets& secrets);
// The kept connection, the secrets, a key that was made for it, the record.
Status ForgetEverything(Context& context, const std::string& host_id);
// The same of a machine that was tried and did not become a target, as far as it can be done.
void ForgetTrial(Context& context, const HostRecord& host);

struct KeyPair {
  std::string file;         // of the private key, 0600, without a passphrase
  std::string public_line;  // "ssh-ed25519 AAAA… tenon my_dsvm"
};
// The pair of this host under <home>/keys; made when there is none yet.
Result<KeyPair> MakeKeyPair(Context& context, const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_ATTACH_HOST_H_
