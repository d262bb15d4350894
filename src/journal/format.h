// SPDX-License-Identifier: Apache-2.0
// The bytes of a segment. docs/formats/journal.md is the description; this file is its numbers.
#ifndef TENON_JOURNAL_FORMAT_H_
#define TENON_JOURNAL_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::journal {

inline constexpr std::string_view kMagic =
    "TENONJ1\n";  // 8 bytes; the digit is the format's version
inline constexpr size_t kFileHeaderSize = 64;
inline constexpr size_t kRecordHeaderSize = 28;
// Larger than any metric file chunk, so that a metric block never has to be cut.
inline constexpr size_t kMaxPayload = 4u << 20;
// What a writer keeps reserved on disk so that the end can be recorded when the disk is full.
inline constexpr size_t kReserve = 64u << 10;

// Record header, little endian:
//   u32 crc32c of everything after this field, payload included
//   u32 payload length
//   u64 record number: 1, 2, 3 … in the segment; a writer of another boot starts a new life (below)
//   i64 time, microseconds since 1970
//   u8  type (run::EventType)   u8[3] zero
struct RecordHeader {
  uint32_t crc = 0;
  uint32_t length = 0;
  uint64_t number = 0;
  int64_t time_us = 0;
  uint8_t type = 0;
};

void EncodeRecordHeader(const RecordHeader& header, char* out28);
RecordHeader DecodeRecordHeader(const char* in28);
uint32_t RecordCrc(const char* header28, std::string_view payload);

// The upper half of a record number counts the boots in which the segment was written. Records that
// a power cut took back may have been seen by somebody, so their numbers are never given out again.
inline constexpr uint64_t FirstOfNextLife(uint64_t number) {
  return ((number >> 32) + 1) << 32 | 1;
}
// Whether `next` follows `last` with nothing missing between.
inline constexpr bool Follows(uint64_t last, uint64_t next) {
  return next == last + 1 || (next > last && static_cast<uint32_t>(next) == 1);
}
// Whether a number after damage can belong to the segment at all. Not a proof, a sieve.
inline constexpr bool IsPlausibleNext(uint64_t last, uint64_t next) {
  return next > last && next - last < (uint64_t{1} << 48);
}

struct FileHeader {
  std::string run_key;  // UUID text
  std::string segment;  // its name; only a hash of it is stored
  int64_t time_us = 0;
  std::string boot_id;  // likewise; "" = not known
};
// kInvalid when the run key is not a UUID.
Result<std::string> EncodeFileHeader(const FileHeader& header);

// What can be read back. `whole` false: magic or checksum is wrong (not both); then the other
// members are empty, the records that follow are good, and the header is to be reported as a hole.
struct StoredHeader {
  bool whole = false;
  std::string run_key;
  std::string segment_hash;  // 8 bytes
  int64_t time_us = 0;
  std::string boot_hash;  // 8 bytes
};
// kCorrupt: not a segment, or one of a newer version.
Result<StoredHeader> DecodeFileHeader(const char* in64);

// First 8 bytes of SHA-256, as stored in the header; 8 zero bytes for "".
std::string ShortHash(std::string_view name);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_FORMAT_H_
