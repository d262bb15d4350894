// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers in byte strings.
#ifndef TENON_SNAPSHOT_STORE_LE_H_
#define TENON_SNAPSHOT_STORE_LE_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace tenon::snapshot {

inline uint32_t Load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap32(v);
  return v;
}

inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap64(v);
  return v;
}

inline void Append32(std::string* out, uint32_t v) {
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap32(v);
  out->append(reinterpret_cast<const char*>(&v), sizeof v);
}

inline void Append64(std::string* out, uint64_t v) {
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap64(v);
  out->append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_LE_H_
