// SPDX-License-Identifier: Apache-2.0
// The desktop's keyring, through `secret-tool` of libsecret: on GNOME, KDE and others.
#ifndef TENON_SECRETS_KEYRING_H_
#define TENON_SECRETS_KEYRING_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace tenon::secrets {

// A session with a keyring program; whether the keyring answers is another question.
bool KeyringMayBeThere();
// nullopt: no such entry. kDenied: no keyring, locked, or no answer in time.
Result<std::optional<std::string>> KeyringLookup(const std::string& id, int timeout_ms);
// The value goes over standard input.
Status KeyringStore(const std::string& id, const std::string& value, int timeout_ms);

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_KEYRING_H_
