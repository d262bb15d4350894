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

inline constexpr std::string_view kMagic = "TENONJ1\n";  // 8 bytes; the digit is the format's version
inline constexpr size_t kFileHeaderSize = 64;            // magic, run key (16), segment hash (8), time (8), crc …
inline constexpr size_t kRecordHeaderSize = 28;
inline constexpr size_t kMaxPayload = 1u << 20;
// What a writer keeps reserved on disk so that the end can be recorded when the disk is full.
inline constexpr size_t kReserve = 64u << 10;

// Record header, little endian:
//   u32 crc32c of everything after this field, payload included
//   u32 payload length
//   u64 record number (1, 2, 3 … in the segment)
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

struct FileHeader {
  std::string run_key;   // UUID text
  std::string segment;   // its name; only a hash of it is stored
  int64_t time_us = 0;
};
std::string EncodeFileHeader(const FileHeader& header);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_FORMAT_H_
