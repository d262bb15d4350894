// SPDX-License-Identifier: Apache-2.0
#include "secrets/cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "base/text.h"

namespace tenon::secrets {
namespace {

constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
// Without this OpenSSL reads the system's configuration first, which costs milliseconds and says
// nothing about AES.
void WithoutConfiguration() { OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr); }

using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

Result<std::string> Seal(const std::string& key, std::string_view name, std::string_view value) {
  if (key.size() != kKeyBytes) return Internal("a key of the wrong length");
  const std::string nonce = RandomBytes(kNonceBytes);
  std::string out(value.size() + kTagBytes, '\0');
  WithoutConfiguration();
  const Context context(EVP_CIPHER_CTX_new());
  int length = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key)),
                         Bytes(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &length, Bytes(name),
                        static_cast<int>(name.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), Bytes(out), &length, Bytes(value),
                        static_cast<int>(value.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), Bytes(out) + value.size(), &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          Bytes(out) + value.size()) == 1;
  if (!done) return Internal("encryption failed");
  return nonce + out;
}

std::optional<std::string> Open(const std::string& key, std::string_view name,
                                std::string_view sealed) {
  if (key.size() != kKeyBytes || sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  const std::string_view body = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string out(body.size() + 1, '\0');
  WithoutConfiguration();
  const Context context(EVP_CIPHER_CTX_new());
  int length = 0;
  const bool done =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key)),
                         Bytes(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &length, Bytes(name),
                        static_cast<int>(name.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), Bytes(out), &length, Bytes(body),
                        static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, Bytes(tag)) == 1 &&
      EVP_DecryptFinal_ex(context.get(), Bytes(out) + body.size(), &length) == 1;
  out.pop_back();
  if (done) return out;
  Wipe(&out);
  return std::nullopt;
}

std::string RandomBytes(size_t n) { return *FromHex(RandomHex(n)); }

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char c : bytes) {
    out += kDigits[c >> 4];
    out += kDigits[c & 15];
  }
  return out;
}

std::optional<std::string> FromHex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const size_t high = kDigits.find(hex[i]), low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

void Wipe(std::string* secret) {
  OPENSSL_cleanse(secret->data(), secret->size());
  secret->clear();
}

}  // namespace tenon::secrets
