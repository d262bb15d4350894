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

// How a program reaches other machines: by SSH (engine/host/reach_by_ssh.h), or as a test makes it
// up. Callers never ask which. Nothing is printed. Who may get a machine's secrets is settled
// before these calls: only the machine whose key the user has agreed to, as its record says.
class OtherMachines {
 public:
  virtual ~OtherMachines() = default;

  // Returns a machine whose key the user has agreed to; fails with kDenied when that is not so. A
  // machine that was reached before is not contacted until its first call. A new one is prepared
  // and asked what it offers; if it has a record, the answers are remembered. `context` must
  // outlive the machine.
  virtual Result<std::unique_ptr<Machine>> Reach(Context& context, const HostRecord& host) = 0;

  // Returns the key that the machine shows. If it has several, returns the one whose fingerprint is
  // `wanted` ("SHA256:…"), if any. No secret is sent to the machine.
  virtual Result<HostKey> LookAtKey(Context& context, const HostRecord& host,
                                    const std::string& wanted) = 0;
  // Logs in to a machine whose key the user has agreed to and asks what it offers. `secrets` has
  // the given secrets; what the user types for this login (context.ask_user) is added to it.
  // Returns the record with what was learned, not written. On failure nothing has changed.
  virtual Result<HostRecord> Try(Context& context, HostRecord host, GivenSecrets* secrets) = 0;
  // Logs in with the given secrets and makes the machine accept this key for later logins.
  virtual Status InstallPublicKey(Context& context, HostRecord host, GivenSecrets* secrets,
                                  const std::string& public_line) = 0;
  // Ends the connection that is kept for later commands.
  virtual void Disconnect(Context& context, const HostRecord& host) = 0;
  // Who logs in at that address when no user is named; "": the machine decides.
  virtual Result<std::string> UsualUser(const std::string& address) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_OTHER_MACHINES_H_
