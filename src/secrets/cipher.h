// SPDX-License-Identifier: Apache-2.0
// AES-256-GCM, and bytes that do not stay in memory.
#ifndef TENON_SECRETS_CIPHER_H_
#define TENON_SECRETS_CIPHER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::secrets {

inline constexpr size_t kKeyBytes = 32;

// nonce + ciphertext + tag, with `name` bound to it.
Result<std::string> Seal(const std::string& key, std::string_view name, std::string_view value);
// nullopt: not what Seal made with this key and this name.
std::optional<std::string> Open(const std::string& key, std::string_view name,
                                std::string_view sealed);

std::string RandomBytes(size_t n);
std::string ToHex(std::string_view bytes);
std::optional<std::string> FromHex(std::string_view hex);
void Wipe(std::string* secret);

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_CIPHER_H_
