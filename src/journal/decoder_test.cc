// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/hash.h"
#include "journal/reader.h"
#include "journal/test_segment.h"

namespace tenon::journal {
namespace {

std::vector<Kept> Drain(Decoder& decoder) {
  std::vector<Kept> records;
  for (;;) {
    auto record = decoder.Next();
    EXPECT_TRUE(record.ok()) << record.error().message;
    if (!record.ok() || !*record) return records;
    records.push_back(Keep(**record));
  }
}

// Everything that can be read when no writer is left.
struct Read {
  std::vector<Kept> records;
  std::vector<Hole> holes;
  uint64_t tail = 0;
  Cursor cursor;

  uint64_t HoleBytes() const {
    uint64_t sum = 0;
    for (const Hole& hole : holes) sum += hole.bytes;
    return sum;
  }
};

Read ReadAll(std::string_view bytes, size_t piece = SIZE_MAX) {
  Decoder decoder;
  Read read;
  auto take = [&] {
    std::vector<Kept> more = Drain(decoder);
    read.records.insert(read.records.end(), more.begin(), more.end());
  };
  for (size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size())) {
    decoder.Feed(bytes.substr(at, piece));
    take();
  }
  decoder.Settle();
  take();
  read.tail = decoder.Finish();
  read.holes = decoder.holes();
  read.cursor = decoder.cursor();
  return read;
}

std::vector<Kept> Without(std::vector<Kept> records, size_t index) {
  records.erase(records.begin() + static_cast<ptrdiff_t>(index));
  return records;
}

TEST(Format, TheExampleOfTheFormatPage) {
  const unsigned char page[] = {
      0x54, 0x45, 0x4e, 0x4f, 0x4e, 0x4a, 0x31, 0x0a, 0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x41,
      0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8, 0x47, 0x40, 0xae, 0x63, 0x47, 0xb0,
      0x17, 0x2c, 0x00, 0xc0, 0x29, 0xf7, 0x3d, 0x54, 0x05, 0x00, 0x01, 0x00, 0x00, 0x00, 0x66,
      0x6f, 0xf6, 0xcc, 0xaa, 0x5b, 0x3c, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x7b, 0xa9, 0xb0, 0x44, 0x4a, 0xe3, 0x61, 0x39, 0x13, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x29, 0xf7, 0x3d, 0x54, 0x05, 0x00, 0x02, 0x00,
      0x00, 0x00, 0x7b, 0x22, 0x73, 0x74, 0x61, 0x74, 0x65, 0x22, 0x3a, 0x22, 0x52, 0x75, 0x6e,
      0x6e, 0x69, 0x6e, 0x67, 0x22, 0x7d, 0x39, 0x04, 0x54, 0x27, 0x04, 0x00, 0x00, 0x00, 0x02,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90, 0x90, 0x2d, 0xf7, 0x3d, 0x54, 0x05, 0x00,
      0x04, 0x00, 0x00, 0x00, 0x01, 0x68, 0x69, 0x0a};
  std::string bytes = *EncodeFileHeader(
      {kTestKey, "host", 1'500'000'000'000'000, "11111111-2222-3333-4444-555555555555"});
  bytes += RecordBytes({1, 1'500'000'000'000'000, 2, R"({"state":"Running"})"});
  bytes += RecordBytes({2, 1'500'000'000'250'000, 4, "\x01hi\n"});
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(page), sizeof page));
}

TEST(Format, ARunKeyMustBeAUuid) {
  for (const char* bad :
       {"", "x", "6ba7b810-9dad-41d1-80b4-00c04fd430c", "6ba7b810-9dad-41d1-80b4-00c04fd430cg"}) {
    EXPECT_FALSE(EncodeFileHeader({bad, "host", 0, ""}).ok()) << bad;
  }
  std::string header = *EncodeFileHeader({"6BA7B810-9DAD-41D1-80B4-00C04FD430C8", "host", 0, ""});
  EXPECT_EQ(DecodeFileHeader(header.data())->run_key, kTestKey);
}

TEST(Decoder, AWholeSegmentIsReadWhole) {
  TestSegment segment = SmallSegment();
  Read read = ReadAll(segment.bytes);
  EXPECT_EQ(read.records, segment.records);
  EXPECT_TRUE(read.holes.empty());
  EXPECT_EQ(read.tail, 0u);
  EXPECT_EQ(read.cursor.record, 5u);
  EXPECT_EQ(read.cursor.offset, segment.bytes.size());
}

TEST(Decoder, ARecordSplitOverAnyTwoBordersComesOutOnce) {
  TestSegment segment = SmallSegment();
  const std::string_view bytes = segment.bytes;
  for (size_t i = 0; i <= bytes.size(); ++i) {
    for (size_t j = i; j <= bytes.size(); ++j) {
      Decoder decoder;
      std::vector<Kept> records;
      for (std::string_view piece : {bytes.substr(0, i), bytes.substr(i, j - i), bytes.substr(j)}) {
        decoder.Feed(piece);
        for (Kept& record : Drain(decoder)) records.push_back(std::move(record));
      }
      ASSERT_EQ(records, segment.records) << i << " " << j;
      ASSERT_TRUE(decoder.holes().empty());
    }
  }
}

TEST(Decoder, CutAtEveryLengthGivesTheWholeRecordsBeforeTheCut) {
  TestSegment segment = SmallSegment();
  for (size_t length = 0; length <= segment.bytes.size(); ++length) {
    Decoder decoder;
    decoder.Feed(segment.bytes.substr(0, length));
    std::vector<Kept> records = Drain(decoder);
    size_t whole = 0;
    while (whole < 5 && segment.starts[whole + 1] <= length) ++whole;
    ASSERT_EQ(records, std::vector<Kept>(segment.records.begin(),
                                         segment.records.begin() + static_cast<ptrdiff_t>(whole)));
    EXPECT_TRUE(decoder.holes().empty()) << "a torn tail is not yet a hole";
    const uint64_t end = length < kFileHeaderSize ? 0 : segment.starts[whole];
    ASSERT_EQ(decoder.pending(), length - end) << length;
    decoder.Settle();
    EXPECT_TRUE(Drain(decoder).empty());
    EXPECT_EQ(decoder.Finish(), length - end);
    EXPECT_EQ(decoder.Finish(), length - end) << "asking twice";
    EXPECT_EQ(decoder.holes().size(), length == end ? 0u : 1u);
  }
}

TEST(Decoder, AFlippedByteAnywhereCostsOneRecordAndIsCountedExactly) {
  TestSegment segment = SmallSegment();
  for (size_t at = 0; at < segment.bytes.size(); ++at) {
    for (int flip : {0xff, 0x01, 0x80}) {
      std::string bytes = segment.bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      Read read = ReadAll(bytes);
      ASSERT_EQ(read.holes.size(), 1u) << at;
      if (at < kFileHeaderSize) {
        ASSERT_EQ(read.records, segment.records) << at;
        EXPECT_EQ(read.holes[0].bytes, kFileHeaderSize);
        continue;
      }
      size_t hit = 0;
      while (segment.starts[hit + 1] <= at) ++hit;
      ASSERT_EQ(read.records, Without(segment.records, hit)) << at << " flip " << flip;
      EXPECT_EQ(read.holes[0].offset, segment.starts[hit]);
      EXPECT_EQ(read.holes[0].bytes, segment.starts[hit + 1] - segment.starts[hit]);
      EXPECT_EQ(read.holes[0].after_record, hit);
    }
  }
}

TEST(Decoder, BeforeItIsSettledDamageAtTheEndIsNotYet) {
  TestSegment segment = SmallSegment();
  std::string bytes = segment.bytes;
  bytes.back() = 'x';
  Decoder decoder;
  decoder.Feed(bytes);
  EXPECT_EQ(Drain(decoder), Without(segment.records, 4));
  EXPECT_TRUE(decoder.holes().empty());
  // The next record proves that the damage is a hole.
  decoder.Feed(RecordBytes({6, 1, 7, "{}"}));
  std::vector<Kept> more = Drain(decoder);
  ASSERT_EQ(more.size(), 1u);
  EXPECT_EQ(more[0].number, 6u);
  ASSERT_EQ(decoder.holes().size(), 1u);
  EXPECT_EQ(decoder.holes()[0].bytes, segment.starts[5] - segment.starts[4]);
}

TEST(Decoder, ZerosAtTheEndAreATornTail) {
  TestSegment segment = SmallSegment();
  for (size_t zeros : {1, 27, 28, 29, 1000, 100'000}) {
    Decoder decoder;
    decoder.Feed(segment.bytes);
    decoder.Feed(std::string(zeros, '\0'));
    EXPECT_EQ(Drain(decoder), segment.records);
    EXPECT_TRUE(decoder.holes().empty());
    EXPECT_EQ(decoder.pending(), zeros);
    EXPECT_EQ(decoder.Finish(), zeros);
  }
}

TEST(Decoder, GarbageIsPassedOverInBoundedMemoryAndCounted) {
  std::mt19937_64 random(3);
  TestSegment segment = SmallSegment();
  Decoder decoder;
  decoder.Feed(segment.bytes);
  EXPECT_EQ(Drain(decoder).size(), 5u);
  std::string garbage(64 << 10, '\0');
  uint64_t fed = 0;
  for (int i = 0; i < 200; ++i) {
    for (char& c : garbage) c = static_cast<char>(random());
    decoder.Feed(garbage);
    fed += garbage.size();
    ASSERT_TRUE(Drain(decoder).empty());
    ASSERT_EQ(decoder.pending(), fed);
  }
  decoder.Feed(RecordBytes({9, 1, 7, "after"}));
  std::vector<Kept> records = Drain(decoder);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].payload, "after");
  ASSERT_EQ(decoder.holes().size(), 1u);
  EXPECT_EQ(decoder.holes()[0].bytes, fed);
  EXPECT_EQ(decoder.holes()[0].offset, segment.bytes.size());
}

TEST(Decoder, BytesCutOutOfTheMiddleCostOnlyTheRecordsHit) {
  TestSegment segment = SmallSegment();
  for (size_t from = kFileHeaderSize; from < segment.bytes.size(); ++from) {
    for (size_t count : {1, 5, 30, 60}) {
      if (from + count > segment.bytes.size()) continue;
      std::string bytes = segment.bytes;
      bytes.erase(from, count);
      Read read = ReadAll(bytes);
      std::vector<Kept> whole;
      for (size_t i = 0; i < 5; ++i) {
        const bool hit = segment.starts[i] < from + count && from < segment.starts[i + 1];
        if (!hit) whole.push_back(segment.records[i]);
      }
      ASSERT_EQ(read.records, whole) << from << " " << count;
      size_t kept_bytes = kFileHeaderSize;
      for (const Kept& record : whole) kept_bytes += RecordBytes(record).size();
      EXPECT_EQ(read.HoleBytes(), bytes.size() - kept_bytes);
    }
  }
}

TEST(Decoder, ALengthFieldBeyondTheLimitDoesNotWaitForBytesThatNeverCome) {
  TestSegment segment = SmallSegment();
  for (uint32_t length : {0xffffffffu, static_cast<uint32_t>(kMaxPayload) + 1}) {
    std::string bytes = segment.bytes;
    std::memcpy(&bytes[segment.starts[1] + 4], &length, 4);
    Decoder decoder;
    decoder.Feed(bytes);
    EXPECT_EQ(Drain(decoder), Without(segment.records, 1));
  }
}

TEST(Decoder, ALengthThatIsTooLongHidesNothingOnceSettled) {
  TestSegment segment = SmallSegment();
  std::string bytes = segment.bytes;
  const uint32_t length = 100'000;
  std::memcpy(&bytes[segment.starts[1] + 4], &length, 4);
  Decoder decoder;
  decoder.Feed(bytes);
  EXPECT_EQ(Drain(decoder).size(), 1u) << "might still be in the making";
  EXPECT_EQ(decoder.Finish(), 0u) << "there is more to read";
  EXPECT_EQ(Drain(decoder).size(), 3u);
  EXPECT_EQ(decoder.Finish(), 0u);
  ASSERT_EQ(decoder.holes().size(), 1u);
  EXPECT_EQ(decoder.holes()[0].bytes, segment.starts[2] - segment.starts[1]);
}

TEST(Decoder, ARepeatedPieceIsNotHandedOutTwice) {
  TestSegment segment = SmallSegment();
  const std::string again =
      segment.bytes.substr(segment.starts[1], segment.starts[4] - segment.starts[1]);
  std::string bytes = segment.bytes.substr(0, segment.starts[4]) + again;
  bytes += segment.bytes.substr(segment.starts[4]);
  Read read = ReadAll(bytes, 7);
  EXPECT_EQ(read.records, segment.records);
  ASSERT_EQ(read.holes.size(), 1u);
  EXPECT_EQ(read.holes[0].bytes, again.size());
}

TEST(Decoder, ANumberThatJumpsIsReportedAlthoughNoByteIsMissing) {
  TestSegment segment = EmptySegment();
  segment.Add({1, 1, 2, "{}"});
  segment.Add({4, 1, 2, "{}"});
  Read read = ReadAll(segment.bytes);
  EXPECT_EQ(read.records, segment.records);
  ASSERT_EQ(read.holes.size(), 1u);
  EXPECT_EQ(read.holes[0].bytes, 0u);
  EXPECT_EQ(read.holes[0].after_record, 1u);
}

TEST(Decoder, ANewLifeIsNoHole) {
  TestSegment segment = EmptySegment();
  segment.Add({1, 1, 2, "{}"});
  segment.Add({FirstOfNextLife(1), 1, 2, "{}"});
  segment.Add({FirstOfNextLife(1) + 1, 1, 2, "{}"});
  segment.Add({FirstOfNextLife(FirstOfNextLife(1)), 1, 2, "{}"});
  Read read = ReadAll(segment.bytes);
  EXPECT_EQ(read.records, segment.records);
  EXPECT_TRUE(read.holes.empty());
}

TEST(Decoder, RecordsThatAScriptPrintedAreNotTakenForRecordsWhenTheirOwnIsDamaged) {
  TestSegment segment = EmptySegment();
  segment.Add({1, 1, 2, "{}"});
  segment.Add(
      {2, 1, 4, "\x01" + RecordBytes({3, 9, 8, "forged"}) + RecordBytes({4, 9, 8, "forged"})});
  segment.Add({3, 1, 2, "{\"x\":1}"});
  std::string bytes = segment.bytes;
  bytes[segment.starts[1] + kRecordHeaderSize] = '\x02';  // in the payload, before the forged ones
  Read read = ReadAll(bytes);
  EXPECT_EQ(read.records, Without(segment.records, 1));
  EXPECT_EQ(read.HoleBytes(), segment.starts[2] - segment.starts[1]);
}

TEST(Decoder, NotASegmentIsCorruptAndStaysSo) {
  for (std::string bytes :
       {std::string(200, 'x'), std::string("#!/bin/sh\n") + std::string(90, ' ')}) {
    Decoder decoder;
    decoder.Feed(bytes);
    for (int i = 0; i < 2; ++i) {
      auto record = decoder.Next();
      ASSERT_FALSE(record.ok());
      EXPECT_EQ(record.error().kind, ErrorKind::kCorrupt);
    }
    EXPECT_EQ(decoder.Finish(), bytes.size());
  }
}

TEST(Decoder, ANewerVersionIsRefusedByItsNumber) {
  std::string header = *EncodeFileHeader({kTestKey, "host", 0, ""});
  header[40] = 2;
  const uint32_t crc = Crc32c(std::string_view(header).substr(8, 52));
  std::memcpy(&header[60], &crc, 4);
  for (char digit : {'1', '2'}) {
    header[6] = digit;
    Decoder decoder;
    decoder.Feed(header);
    auto record = decoder.Next();
    ASSERT_FALSE(record.ok());
    EXPECT_NE(record.error().message.find("format 2"), std::string::npos) << record.error().message;
  }
}

TEST(Decoder, AHeaderOfZerosIsAPowerCutNotAnotherFile) {
  TestSegment segment = SmallSegment();
  Decoder empty;
  empty.Feed(std::string(64, '\0'));
  EXPECT_TRUE(Drain(empty).empty());
  EXPECT_TRUE(empty.holes().empty());
  std::string bytes = segment.bytes;
  bytes.replace(0, segment.starts[1], segment.starts[1], '\0');
  Read read = ReadAll(bytes);
  EXPECT_EQ(read.records, Without(segment.records, 0));
  EXPECT_EQ(read.HoleBytes(), segment.starts[1]);
}

TEST(Decoder, GoesOnFromACursor) {
  TestSegment segment = SmallSegment();
  for (size_t done = 1; done <= 5; ++done) {
    Decoder decoder(Cursor{done, segment.starts[done]});
    decoder.Feed(std::string_view(segment.bytes).substr(segment.starts[done]));
    std::vector<Kept> records = Drain(decoder);
    EXPECT_EQ(records.size(), 5 - done);
    EXPECT_EQ(decoder.cursor().record, 5u);
    EXPECT_EQ(decoder.cursor().offset, segment.bytes.size());
    EXPECT_TRUE(decoder.holes().empty());
  }
}

TEST(Decoder, RewindTakesBackWhatLayAfterTheCursor) {
  TestSegment segment = SmallSegment();
  Decoder decoder;
  decoder.Feed(segment.bytes + "torn tail of someone who died");
  EXPECT_EQ(Drain(decoder).size(), 5u);
  EXPECT_EQ(decoder.Finish(), 29u);
  EXPECT_EQ(decoder.holes().size(), 1u);
  decoder.Rewind();
  EXPECT_TRUE(decoder.holes().empty());
  decoder.Feed(RecordBytes({6, 1, 2, "new"}));
  std::vector<Kept> records = Drain(decoder);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].payload, "new");
}

TEST(Decoder, RandomDamageNeverInventsARecordAndEveryByteIsAccountedFor) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    TestSegment segment = SmallSegment();
    std::string bytes = segment.bytes;
    for (uint64_t n = 1 + random() % 6; n > 0; --n) {
      const size_t at = kFileHeaderSize + random() % (bytes.size() - kFileHeaderSize);
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 9);
          break;
        default:
          bytes.insert(at, std::string(random() % 40, static_cast<char>(random())));
      }
    }
    Read read = ReadAll(bytes, 1 + random() % 50);
    uint64_t record_bytes = 0, last = 0;
    for (const Kept& record : read.records) {
      ASSERT_GT(record.number, last);
      last = record.number;
      ASSERT_EQ(record, segment.records[record.number - 1]);
      record_bytes += RecordBytes(record).size();
    }
    ASSERT_EQ(kFileHeaderSize + record_bytes + read.HoleBytes(), bytes.size());
  }
}

TEST(Decoder, HolesBeyondCountingAreCountedTogether) {
  TestSegment segment = EmptySegment();
  for (uint64_t i = 1; i <= 2 * kMaxHoles; ++i) {
    segment.bytes += "?";
    segment.Add({i, 1, 200, ""});
  }
  const Read read = ReadAll(segment.bytes);
  EXPECT_EQ(read.records.size(), 2 * kMaxHoles);
  EXPECT_LE(read.holes.size(), kMaxHoles + 1);
  EXPECT_EQ(read.HoleBytes(), 2 * kMaxHoles);
}

TEST(Decoder, LookingForTheNextRecordAmongFalseHeadersIsBounded) {
  TestSegment segment = EmptySegment();
  segment.Add({1, 1, 200, "first"});
  RecordHeader header{1, kMaxPayload, 100, 0, 7};
  std::string lie(kRecordHeaderSize, '\0');
  EncodeRecordHeader(header, lie.data());
  segment.bytes += "?";
  for (size_t i = 0; i < (24u << 20) / kRecordHeaderSize; ++i) segment.bytes += lie;
  segment.Add({2, 1, 200, "last"});
  const Read read = ReadAll(segment.bytes, 1u << 20);
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[1].payload, "last");
}

}  // namespace
}  // namespace tenon::journal
