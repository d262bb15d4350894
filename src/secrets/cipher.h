// SPDX-License-Identifier: Apache-2.0
// Encryption by AES-256-GCM, and wiping secrets from memory.
#ifndef TENON_SECRETS_CIPHER_H_
#define TENON_SECRETS_CIPHER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::secrets {

inline constexpr size_t kKeyBytes = 32;

// Returns nonce + ciphertext + tag, with `name` bound to it. kInternal: `key` does not have
// kKeyBytes bytes, or OpenSSL failed.
Result<std::string> Seal(const std::string& key, std::string_view name, std::string_view value);
// Returns the value again. nullopt: `sealed` is not what Seal() made with this key and this name.
std::optional<std::string> Open(const std::string& key, std::string_view name,
                                std::string_view sealed);

std::string RandomBytes(size_t n);
std::string ToHex(std::string_view bytes);
std::optional<std::string> FromHex(std::string_view hex);  // lower-case digits only
void Wipe(std::string* secret);  // overwrites the bytes and makes the text empty

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_CIPHER_H_
