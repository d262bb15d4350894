// SPDX-License-Identifier: Apache-2.0
// CRC-32C by the CPU's instruction has a latency of three cycles and a throughput of one per cycle,
// so three stretches are computed side by side and joined. Joining moves a CRC over as many zero
// bytes as the stretches behind it have. That is linear: four table look-ups per join.
#include "base/hash.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

#include "base/check.h"

namespace tenon {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bits reversed

// kSlices[n][b]: the CRC of byte b followed by n zero bytes.
struct Slices {
  uint32_t table[8][256];
  constexpr Slices() : table() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t crc = b;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
      table[0][b] = crc;
    }
    for (int n = 1; n < 8; ++n) {
      for (int b = 0; b < 256; ++b) {
        uint32_t before = table[n - 1][b];
        table[n][b] = (before >> 8) ^ table[0][before & 0xff];
      }
    }
  }
};
constexpr Slices kSlices;

uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) v = __builtin_bswap64(v);
  return v;
}

uint32_t SoftwareCrc(uint32_t crc, const char* p, size_t n) {
  const auto& t = kSlices.table;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t v = Load64(p) ^ crc;
    crc = t[7][v & 0xff] ^ t[6][v >> 8 & 0xff] ^ t[5][v >> 16 & 0xff] ^ t[4][v >> 24 & 0xff] ^
          t[3][v >> 32 & 0xff] ^ t[2][v >> 40 & 0xff] ^ t[1][v >> 48 & 0xff] ^ t[0][v >> 56];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)

// Moves a CRC over `Length` zero bytes.
template <size_t Length>
struct Shift {
  uint32_t table[4][256];
  constexpr Shift() : table() {
    uint32_t basis[32] = {};
    for (int bit = 0; bit < 32; ++bit) {
      uint32_t crc = uint32_t{1} << bit;
      for (size_t i = 0; i < Length; ++i) crc = (crc >> 8) ^ kSlices.table[0][crc & 0xff];
      basis[bit] = crc;
    }
    for (int byte = 0; byte < 4; ++byte) {
      for (int b = 0; b < 256; ++b) {
        for (int bit = 0; bit < 8; ++bit) {
          if (b >> bit & 1) table[byte][b] ^= basis[byte * 8 + bit];
        }
      }
    }
  }
  uint32_t operator()(uint32_t crc) const {
    return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^
           table[3][crc >> 24];
  }
};

template <size_t Length>
__attribute__((target("sse4.2"))) uint32_t ThreeStretches(uint32_t crc, const char*& p, size_t& n) {
  static const Shift<Length> kShift;
  while (n >= 3 * Length) {
    uint64_t a = crc, b = 0, c = 0;
    for (const char* end = p + Length; p < end; p += 8) {
      a = __builtin_ia32_crc32di(a, Load64(p));
      b = __builtin_ia32_crc32di(b, Load64(p + Length));
      c = __builtin_ia32_crc32di(c, Load64(p + 2 * Length));
    }
    crc = kShift(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b);
    crc = kShift(crc) ^ static_cast<uint32_t>(c);
    p += 2 * Length;
    n -= 3 * Length;
  }
  return crc;
}

__attribute__((target("sse4.2"))) uint32_t HardwareCrc(uint32_t crc, const char* p, size_t n) {
  crc = ThreeStretches<4096>(crc, p, n);
  crc = ThreeStretches<256>(crc, p, n);
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) wide = __builtin_ia32_crc32di(wide, Load64(p));
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; --n, ++p) crc = __builtin_ia32_crc32qi(crc, static_cast<uint8_t>(*p));
  return crc;
}

#endif

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Hash::Hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Hash> Hash::FromHex(std::string_view hex) {
  if (hex.size() != 64) return std::nullopt;
  Hash hash;
  for (size_t i = 0; i < 32; ++i) {
    int high = HexDigit(hex[2 * i]), low = HexDigit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    hash.bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return hash;
}

Hash Hash::FromBytes(std::string_view raw32) {
  TENON_CHECK(raw32.size() == 32);
  Hash hash;
  std::memcpy(hash.bytes.data(), raw32.data(), 32);
  return hash;
}

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256_Init(&state_->context); }
Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

Hash Sha256::Finish() {
  Hash hash;
  SHA256_Final(hash.bytes.data(), &state_->context);
  return hash;
}

Hash Sha256Of(std::string_view bytes) {
  SHA256_CTX context;
  Hash hash;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(hash.bytes.data(), &context);
  return hash;
}

namespace internal {

uint32_t Crc32cSoftware(std::string_view bytes, uint32_t crc) {
  return ~SoftwareCrc(~crc, bytes.data(), bytes.size());
}

}  // namespace internal

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool kHardware = __builtin_cpu_supports("sse4.2");
  if (kHardware) return ~HardwareCrc(~crc, bytes.data(), bytes.size());
#endif
  return internal::Crc32cSoftware(bytes, crc);
}

}  // namespace tenon
