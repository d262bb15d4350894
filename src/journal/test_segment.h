// SPDX-License-Identifier: Apache-2.0
// Small segments made by hand, for tests.
#ifndef TENON_JOURNAL_TEST_SEGMENT_H_
#define TENON_JOURNAL_TEST_SEGMENT_H_

#include <string>
#include <vector>

#include "base/process.h"
#include "journal/format.h"
#include "journal/reader.h"

namespace tenon::journal {

inline constexpr const char* kTestKey = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";

// A record that owns its payload.
struct Kept {
  uint64_t number = 0;
  int64_t time_us = 0;
  uint8_t type = 0;
  std::string payload;
  bool operator==(const Kept&) const = default;
};

inline Kept Keep(const Record& record) {
  return {record.number, record.time_us, record.type, std::string(record.payload)};
}

inline std::string RecordBytes(const Kept& record) {
  RecordHeader header{0, static_cast<uint32_t>(record.payload.size()), record.number,
                      record.time_us, record.type};
  std::string bytes(kRecordHeaderSize, '\0');
  EncodeRecordHeader(header, bytes.data());
  header.crc = RecordCrc(bytes.data(), record.payload);
  EncodeRecordHeader(header, bytes.data());
  return bytes + record.payload;
}

// A segment's bytes and records. `starts` has the offset of each record and, last, the end.
struct TestSegment {
  std::string bytes;
  std::vector<Kept> records;
  std::vector<uint64_t> starts;

  void Add(Kept record) {
    bytes += RecordBytes(record);
    records.push_back(std::move(record));
    starts.push_back(bytes.size());
  }
};

inline TestSegment EmptySegment(const std::string& name = "host") {
  TestSegment segment;
  segment.bytes = *EncodeFileHeader({kTestKey, name, 1'500'000'000'000'000, BootId()});
  segment.starts.push_back(segment.bytes.size());
  return segment;
}

// Five records: JSON, an empty payload, text, zeros, and JSON again.
inline TestSegment SmallSegment(const std::string& name = "host") {
  TestSegment segment = EmptySegment(name);
  segment.Add({1, 100, 2, R"({"state":"Running"})"});
  segment.Add({2, 200, 4, std::string()});
  segment.Add({3, 300, 4, "\x01hello\n"});
  segment.Add({4, 50, 4, std::string(40, '\0')});
  segment.Add({5, 500, 8, R"({"state":"Completed","exit_code":0})"});
  return segment;
}

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_TEST_SEGMENT_H_
