// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_HASH_H_
#define TENON_BASE_HASH_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// A SHA-256 value.
struct Hash {
  std::array<uint8_t, 32> bytes{};

  std::string Hex() const;  // 64 lower-case digits
  static std::optional<Hash> FromHex(std::string_view hex);
  static Hash FromBytes(std::string_view raw32);  // aborts unless it has 32 bytes
  std::string_view raw() const { return {reinterpret_cast<const char*>(bytes.data()), 32}; }
  auto operator<=>(const Hash&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Incremental SHA-256 over OpenSSL's low-level calls (the EVP ones drag dlopen and name look-ups
// into a static program).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(std::string_view bytes);
  Hash Finish();  // once; afterwards the object is spent

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash Sha256Of(std::string_view bytes);

// CRC-32C (Castagnoli), continued from `crc`. Uses the CPU's instruction where there is one.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

namespace internal {
// The same value, computed without that instruction.
uint32_t Crc32cSoftware(std::string_view bytes, uint32_t crc = 0);
}  // namespace internal

}  // namespace tenon

template <>
struct std::hash<tenon::Hash> {
  size_t operator()(const tenon::Hash& h) const noexcept {
    size_t v;
    __builtin_memcpy(&v, h.bytes.data(), sizeof v);
    return v;
  }
};

#endif  // TENON_BASE_HASH_H_
