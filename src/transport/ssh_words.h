// SPDX-License-Identifier: Apache-2.0
// What ssh.cc shares with the tests: reading keys, configuration and failures.
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
  std::string ciphers;  // by preference
};
// What `ssh -G` says with these options; the address comes last.
Result<SshConfiguration> AskSshConfiguration(const std::vector<std::string>& words);

// Which ssh is here: 100 * major + minor of OpenSSH; kNewestSsh for one that does not say. Asked
// once per program: the answer is kept in `folder` ("" = nowhere).
inline constexpr int kNewestSsh = 9999;
int SshVersion(const std::string& folder);
// The first that know these settings.
inline constexpr int kRemoteCommandSince = 706, kKnownHostsCommandSince = 805;

// The same ciphers with those first that a processor with AES does in half the time, if the list is
// one that OpenSSH has by itself; "" = somebody has chosen, or there is nothing to gain here.
std::string QuickerCiphers(const std::string& ciphers);

// What ssh wrote less its remarks on settings that this build of it has no use for (GSSAPI's in the
// system's configuration); it goes on after those.
std::string WithoutRemarks(const std::string& text);

// What may have gone wrong besides ssh's own words.
struct SshOutcome {
  bool had_password = false;      // we could answer with one
  bool password_asked = false;    // for the target's own login
  bool password_refused = false;  // and it was asked for twice
  std::string unanswered;         // a question nobody answered; "" = none
  std::string cannot_ask;         // why ssh can't start the program that asks; "" = it can
  std::string server_words;       // what the server had to say; "" = nothing
};
Error ExplainSsh(const SshTarget& target, const SshOutcome& outcome,
                 const std::string& standard_error);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_WORDS_H_
