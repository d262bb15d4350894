// SPDX-License-Identifier: Apache-2.0
// The OpenSSH client as our way to other machines: the user's ~/.ssh/config, agent, jump hosts,
// certificates and hardware keys just work. This file knows how `ssh` is called and what its
// failures mean; what is said over the connection is ssh_host.h's affair.
//
// Host keys are pinned: the key a user agreed to lies in a known_hosts file of ours under the
// target's own alias, and nothing but that key is accepted. A new address of the same machine is
// no change; another key is a refusal. Passwords reach ssh through askpass.h alone.
#ifndef TENON_TRANSPORT_SSH_H_
#define TENON_TRANSPORT_SSH_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"
#include "transport/address.h"
#include "transport/piped_process.h"

namespace tenon::transport {

// Everything it takes to reach one machine. A plain value.
struct SshTarget {
  std::string name;           // of the target, for messages
  std::string address;        // host name, IP, or an alias of ~/.ssh/config; never begins with '-'
  int port = 0;               // 0: ssh's own choice
  std::string user;           // "": ssh's own choice
  std::string alias;          // HostKeyAlias, "tenon-<id>": letters, digits, dashes
  std::string known_hosts;    // file with the pinned key; "" = nothing is pinned yet
  std::string identity_file;  // "": ssh's own choice of keys
  std::string control_path;   // of the shared connection; "": do not share
  int persist_seconds = 600;  // how long a shared connection outlives its last use

  // "my_dsvm (203.0.113.7)": stands for the alias in questions the user reads.
  std::string Shown() const { return name.empty() ? address : name + " (" + address + ")"; }
};

// What may be answered when ssh asks. Asked on a thread of its own.
struct SshSecrets {
  // Looked up when it is wanted: a connection that stands wants none. Empty function: there is
  // none.
  using Lookup = std::function<Result<std::optional<std::string>>()>;
  Lookup password;    // of target.user on this very host
  Lookup passphrase;  // of target.identity_file
  // Whatever else ssh asks (jump hosts, other keys, one-time codes): the user. In a question about
  // the target itself its alias is replaced by SshTarget::Shown(). nullopt: no answer.
  // Empty function: nobody is there.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_user;
};

// Why a connection did not come about; kept in Error::kind and in words:
//   kDenied       wrong password or key (which methods the server offers is in the message),
//                 host key other than the pinned one (the message says so and what to do)
//   kUnavailable  no route, refused, timed out, name unknown, link lost
//   kInvalid      ssh itself refuses its options or the user's configuration
//   kNotFound     there is no `ssh` program here
class Ssh {
 public:
  Ssh(SshTarget target, SshSecrets secrets);
  ~Ssh();
  Ssh(const Ssh&) = delete;
  Ssh& operator=(const Ssh&) = delete;

  // Connects without authenticating and returns the key the machine shows. No secret is sent, to
  // this machine; a jump host on the way may ask for its own. `algorithms`: of these kinds only
  // (ssh's HostKeyAlgorithms); "" = the kind ssh likes best. `timeout_s` for the whole.
  Result<HostKey> LookAtHostKey(const std::string& algorithms = "", int timeout_s = 20);

  // Makes sure that the shared connection stands: one process at a time tries (a lock beside the
  // socket), the others then use it. Without a control path, or where sockets cannot be made:
  // does nothing. One try of a password. `fresh`: set to whether it had to be made.
  Status Connect(bool* fresh = nullptr);
  // Ends the shared connection, if there is one.
  void Disconnect();
  bool Shared() const;  // it stands, as far as the socket tells
  // The process that keeps it answers nobody while it is stopped. Lets it go on.
  void WakeShared() const;

  // A command on the host, by an ssh process of ours: sent as one line, which the login shell there
  // understands whatever it is (see QuoteForAnyShell).
  Result<PipedProcess> Open(const std::string& command);
  // The same as a session of the shared connection, without an ssh process, where there is one. One
  // that was `refused`: ShareNoMore(), then again.
  Result<PipedProcess> OpenShared(const std::string& command);
  // From now on OpenShared() starts an ssh, too.
  void ShareNoMore();

  // The command line that does the same on our own standard streams, to be exec'ed; `options` go in
  // front (-t, -L …). With `environment` of the second member.
  std::vector<std::string> CommandLine(const std::vector<std::string>& options,
                                       const std::string& command) const;
  // The environment for it: askpass and its socket. Lives as long as this object.
  Environment CommandEnvironment() const;

  // What a finished ssh process that exited with 255 meant, from its standard error.
  Error Explain(const std::string& standard_error, const std::string& server_words = "") const;

  const SshTarget& target() const { return target_; }

 private:
  struct Impl;
  Status StartShared();
  Result<HostKey> LookWith(SpawnOptions& options, const std::string& seen, int timeout_s);

  SshTarget target_;
  std::unique_ptr<Impl> impl_;
};

// A word that bash, dash, zsh, ksh, fish and tcsh all read as it is; one with a line break in it
// all but tcsh.
std::string QuoteForAnyShell(std::string_view word);

// The user and port ssh would use (`ssh -G`), so that files can say it.
struct SshDefaults {
  std::string host_name, user;
  int port = 22;
};
Result<SshDefaults> AskSshDefaults(const std::string& address);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_H_
