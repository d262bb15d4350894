// SPDX-License-Identifier: Apache-2.0
// Parses the names of other machines and the keys they show, and names the reasons for a refused
// login. Text only: ssh.h makes the connections.
#ifndef TENON_TRANSPORT_ADDRESS_H_
#define TENON_TRANSPORT_ADDRESS_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::transport {

// Splits "host:2222", "[2001:db8::1]:2222" or "ssh://user@host:2222" into its parts. A bare IPv6
// address is a host without a port. Absent parts: "" and 0. Other text is kInvalid.
struct MachineAddress {
  std::string host, user;
  int port = 0;
};
Result<MachineAddress> ParseMachineAddress(const std::string& text);
// Fails with kInvalid when `user` cannot be a login name.
Status CheckLoginName(const std::string& user);

struct HostKey {
  std::string line;         // "ssh-ed25519 AAAA…", as in a known_hosts file without the names
  std::string type;         // ED25519, RSA, …
  std::string fingerprint;  // SHA256:…
};
// Parses "ssh-ed25519 AAAA… comment". Fails with kInvalid when the text is not a host key.
Result<HostKey> ParseHostKey(std::string_view text);

// Values of Error::reason when a login fails with kDenied.
inline constexpr std::string_view kHostKeyRefused = "host-key-refused";  // we refused the host key
inline constexpr std::string_view kPasswordWrong = "password-wrong";
inline constexpr std::string_view kPasswordNeeded = "password-needed";  // missing or not accepted
inline constexpr std::string_view kKeysOnly = "keys-only";          // the server takes no password
inline constexpr std::string_view kLoginRefused = "login-refused";  // for any other reason

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_ADDRESS_H_
