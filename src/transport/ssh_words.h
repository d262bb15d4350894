// SPDX-License-Identifier: Apache-2.0
// Reads what ssh says: its version, its configuration and its failures. For this folder.
#ifndef TENON_TRANSPORT_SSH_WORDS_H_
#define TENON_TRANSPORT_SSH_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transport/ssh.h"

namespace tenon::transport {

struct SshConfiguration {
  SshDefaults defaults;
  bool jumps = false;   // ProxyJump or ProxyCommand
  std::string ciphers;  // in order of preference
};
// Asks `ssh -G`. `words` are options of ssh; the address comes last.
Result<SshConfiguration> AskSshConfiguration(const std::vector<std::string>& words);

// SshVersion: the version of the `ssh` on PATH, 100 * major + minor of OpenSSH; kNewestSsh when it
// cannot be told. `folder` keeps the answer for the next time ("" = it is not kept).
inline constexpr int kNewestSsh = 9999;
int SshVersion(const std::string& folder);
// The first versions that know RemoteCommand and KnownHostsCommand.
inline constexpr int kRemoteCommandSince = 706, kKnownHostsCommandSince = 805;

// Returns the ciphers with AES-GCM first, which takes a processor with AES half the time. "" when
// the list is not a default of OpenSSH (the user has chosen), or when this processor has no AES.
std::string QuickerCiphers(const std::string& ciphers);

// Removes ssh's remarks on settings that this build of ssh does not support (GSSAPI in the system's
// configuration). They are no failures: ssh goes on.
std::string WithoutRemarks(const std::string& text);

// What is known of a failed login besides ssh's own words.
struct SshOutcome {
  bool had_password = false;      // a stored one may exist
  bool password_asked = false;    // ssh asked for the target's
  bool password_refused = false;  // ssh asked for it twice
  std::string unanswered;         // a question nobody answered; "" = none
  std::string cannot_ask;         // why ssh can't start the program that asks; "" = it can
  std::string server_words;       // what the server said; "" = nothing
};
// Turns a failure of ssh into an Error that a user can act on.
Error ExplainSsh(const SshTarget& target, const SshOutcome& outcome,
                 const std::string& standard_error);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_WORDS_H_
