// SPDX-License-Identifier: Apache-2.0
// The byte format of a segment, as constants and functions. docs/formats/journal.md describes it.
#ifndef TENON_JOURNAL_FORMAT_H_
#define TENON_JOURNAL_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::journal {

// 8 bytes; the digit is the version of the format.
inline constexpr std::string_view kMagic = "TENONJ1\n";
inline constexpr size_t kFileHeaderSize = 64;
inline constexpr size_t kRecordHeaderSize = 28;
// Larger than any chunk of a metric file, so a metric block never has to be split.
inline constexpr size_t kMaxPayload = 4u << 20;
// Disk space that a writer keeps reserved so that it can record the end when the disk is full.
inline constexpr size_t kReserve = 64u << 10;

// Record header, little endian:
//   u32 crc32c of everything after this field, payload included
//   u32 payload length
//   u64 record number: 1, 2, 3 … in the segment; another boot starts a new life (below)
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

// The upper 32 bits of a record number count the boots in which the segment was written (its
// "lives"). A power cut can take back records that a reader has already seen. Their numbers are
// never used again: the next boot starts at FirstOfNextLife().
inline constexpr uint64_t FirstOfNextLife(uint64_t number) {
  return ((number >> 32) + 1) << 32 | 1;
}
// Whether no record is missing between the numbers `last` and `next`.
inline constexpr bool Follows(uint64_t last, uint64_t next) {
  return next == last + 1 || (next > last && static_cast<uint32_t>(next) == 1);
}
// Whether a record number found after damage can belong to this segment. A cheap first test, not a
// proof.
inline constexpr bool IsPlausibleNext(uint64_t last, uint64_t next) {
  return next > last && next - last < (uint64_t{1} << 48);
}

struct FileHeader {
  std::string run_key;  // UUID text
  std::string segment;  // its name; the file holds only a hash of it
  int64_t time_us = 0;
  std::string boot_id;  // the file holds only a hash; "" = not known
};
// kInvalid when the run key is not a UUID.
Result<std::string> EncodeFileHeader(const FileHeader& header);

// What DecodeFileHeader() returns. `whole` is false when either the magic or the checksum is wrong.
// Then the other members are empty, the records after the header can still be read, and the caller
// reports the header as a hole.
struct StoredHeader {
  bool whole = false;
  std::string run_key;
  std::string segment_hash;  // 8 bytes
  int64_t time_us = 0;
  std::string boot_hash;  // 8 bytes
};
// kCorrupt when the bytes are not a segment header, or one of a newer version.
Result<StoredHeader> DecodeFileHeader(const char* in64);

// The first 8 bytes of SHA-256, as the file header stores them; 8 zero bytes for "".
std::string ShortHash(std::string_view name);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_FORMAT_H_
