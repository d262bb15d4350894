// SPDX-License-Identifier: Apache-2.0
// The desktop's keyring, through libsecret's program `secret-tool`: on GNOME, KDE and others.
#ifndef TENON_SECRETS_KEYRING_H_
#define TENON_SECRETS_KEYRING_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace tenon::secrets {

// Whether this session has a D-Bus address and a `secret-tool`. The keyring may still be locked or
// not answer.
bool KeyringMayBeThere();
// nullopt: no such entry. kDenied: no keyring, it is locked, or it gave no answer in time.
Result<std::optional<std::string>> KeyringLookup(const std::string& id, int timeout_ms);
// Sends the value over standard input, so that no argument list shows it. kDenied as above.
Status KeyringStore(const std::string& id, const std::string& value, int timeout_ms);

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_KEYRING_H_
