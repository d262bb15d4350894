// SPDX-License-Identifier: Apache-2.0
// Reaches other machines with the OpenSSH client, so that the user's ~/.ssh/config, agent, jump
// hosts, certificates and hardware keys just work. This file knows how to call `ssh` and what its
// failures mean; ssh_host.h uses the connection.
//
// Host keys are pinned. The key that the user agreed to lies in a known_hosts file of ours under
// the target's own alias, and only that key is accepted. The machine may have a new address, but
// not another key. Passwords reach ssh through askpass.h alone.
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

// The answers to ssh's questions. The functions are called on a thread of their own.
struct SshSecrets {
  // Called when ssh asks, and not while a connection stands. nullopt or an empty function: there is
  // no such secret. An Error ends the login.
  using Lookup = std::function<Result<std::optional<std::string>>()>;
  Lookup password;    // of target.user on the target
  Lookup passphrase;  // of target.identity_file
  // Asks the user what the secrets do not answer (jump hosts, other keys, one-time codes). `prompt`
  // has SshTarget::Shown() in place of the target's alias. nullopt: the user gave no answer. Empty
  // function: there is nobody to ask.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_user;
};

// Connections to one machine. Error::kind and the message say why a connection failed:
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

  // Connects without logging in and returns the key that the machine shows. Sends no secret to this
  // machine; a jump host on the way may ask for its own. `algorithms`: accept only these kinds of
  // keys (ssh's HostKeyAlgorithms); "" = the kind ssh likes best. `timeout_s` limits the whole
  // call, but not the time the user takes to answer.
  Result<HostKey> LookAtHostKey(const std::string& algorithms = "", int timeout_s = 20);

  // Makes sure that the shared connection stands. May be repeated. One process at a time logs in,
  // under a lock beside the socket; the others wait and use its connection. Without a control path,
  // or where sockets or locks cannot be made, returns ok and shares nothing. Tries a password once.
  // Sets `*fresh` to whether this call has made the connection.
  Status Connect(bool* fresh = nullptr);
  // Ends the shared connection, if there is one.
  void Disconnect();
  bool Shared() const;  // whether a process listens at its socket
  // Continues the process that keeps the shared connection if it is stopped: a stopped process
  // answers nobody.
  void WakeShared() const;

  // Runs a command on the host through an ssh process of its own. The login shell there gets
  // `command` as one line; quote its words so that any shell reads them (QuoteForAnyShell).
  Result<PipedProcess> Open(const std::string& command);
  // Like Open(), but opens a session of the shared connection, without an ssh process. Starts an
  // ssh where that is not possible. If the session ends as `refused`, call ShareNoMore() and try
  // again.
  Result<PipedProcess> OpenShared(const std::string& command);
  // From now on OpenShared() does the same as Open().
  void ShareNoMore();

  // The command line of an ssh that runs `command` on the standard streams of the process that
  // executes it. `options` (-t, -L …) go in front. To be run with CommandEnvironment().
  std::vector<std::string> CommandLine(const std::vector<std::string>& options,
                                       const std::string& command) const;
  // Our environment with the askpass variables added. They are valid as long as this object lives.
  Environment CommandEnvironment() const;

  // Explains why an ssh process exited with 255. `server_words`: what the server said, if that is
  // known apart from ssh's own words.
  Error Explain(const std::string& standard_error, const std::string& server_words = "") const;

  const SshTarget& target() const { return target_; }

 private:
  struct Impl;
  Status StartShared();
  Result<HostKey> LookWith(SpawnOptions& options, const std::string& seen, int timeout_s);

  SshTarget target_;
  std::unique_ptr<Impl> impl_;
};

// Quotes a word so that bash, dash, zsh, ksh, fish and tcsh all read it unchanged. A word with a
// line break works in all of them but tcsh.
std::string QuoteForAnyShell(std::string_view word);

// The host name, user and port that ssh would use for an address (`ssh -G`).
struct SshDefaults {
  std::string host_name, user;
  int port = 22;
};
Result<SshDefaults> AskSshDefaults(const std::string& address);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_H_
