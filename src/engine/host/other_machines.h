// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_OTHER_MACHINES_H_
#define TENON_ENGINE_HOST_OTHER_MACHINES_H_

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "transport/address.h"

namespace tenon::engine {

struct Context;

using transport::HostKey;

// Secrets that are not in the store yet.
struct GivenSecrets {
  std::optional<std::string> password, passphrase;
};

// How a program gets to machines other than this one: SSH (engine/host/reach_by_ssh.h), or what a
// test makes up. Nobody who uses it asks which. Nothing is printed here; whom a machine's secrets
// may go to is settled before: those of its record, whose key was agreed to.
class OtherMachines {
 public:
  virtual ~OtherMachines() = default;

  // A machine whose key is agreed to (kDenied when it is not). One that was reached before is not
  // contacted yet: the first call does that. One that was not is made ready and asked what it
  // offers; the answers are remembered if it is recorded. `context` must outlive the machine.
  virtual Result<std::unique_ptr<Machine>> Reach(Context& context, const HostRecord& host) = 0;

  // The key the machine shows; of its several, the one with the fingerprint `wanted` ("SHA256:…"),
  // if it has that. No secret goes to it.
  virtual Result<HostKey> LookAtKey(Context& context, const HostRecord& host,
                                    const std::string& wanted) = 0;
  // Logs in to a machine whose key is agreed to and asks what it offers. `secrets`: those given;
  // what the user types for this very login (context.ask_user) is put there too. The record with
  // what was learned, not written. On failure everything is as before.
  virtual Result<HostRecord> Try(Context& context, HostRecord host, GivenSecrets* secrets) = 0;
  // Logs in with the given secrets and has the machine take this key from now on.
  virtual Status InstallPublicKey(Context& context, HostRecord host, GivenSecrets* secrets,
                                  const std::string& public_line) = 0;
  // Ends a connection that is kept for later commands.
  virtual void Disconnect(Context& context, const HostRecord& host) = 0;
  // Who logs in at that address where nobody is named; "": the machine's own affair.
  virtual Result<std::string> UsualUser(const std::string& address) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_OTHER_MACHINES_H_
