// SPDX-License-Identifier: Apache-2.0
// How people and files name other machines, the keys that machines show, and why one was not let
// in. Words only: who connects is ssh.h.
#ifndef TENON_TRANSPORT_ADDRESS_H_
#define TENON_TRANSPORT_ADDRESS_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::transport {

// "host:2222", "[2001:db8::1]:2222", "ssh://user@host:2222" → parts; a bare IPv6 address is one.
struct MachineAddress {
  std::string host, user;
  int port = 0;
};
Result<MachineAddress> ParseMachineAddress(const std::string& text);
// kInvalid for a name that cannot be a user's.
Status CheckLoginName(const std::string& user);

struct HostKey {
  std::string line;         // "ssh-ed25519 AAAA…", as in a known_hosts file without the names
  std::string type;         // ED25519, RSA, …
  std::string fingerprint;  // SHA256:…
};
// "ssh-ed25519 AAAA… comment" → the key and its fingerprint. kInvalid: no key.
Result<HostKey> ParseHostKey(std::string_view text);

// Reasons of a kDenied of a login.
inline constexpr std::string_view kHostKeyRefused = "host-key-refused";  // the machine's, by us
inline constexpr std::string_view kPasswordWrong = "password-wrong";
inline constexpr std::string_view kPasswordNeeded = "password-needed";  // or another one
inline constexpr std::string_view kKeysOnly = "keys-only";  // a password was given for nothing
inline constexpr std::string_view kLoginRefused = "login-refused";  // for any other reason

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_ADDRESS_H_
