// SPDX-License-Identifier: Apache-2.0
#include "journal/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/temp_folder.h"
#include "journal/test_segment.h"
#include "journal/writer.h"

namespace tenon::journal {
namespace {

void Put(const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(WriteFileAtomically(path, bytes, 0644, Durability::kProcess).ok());
}

// Holds the segment's lock as a writer does.
class HeldLock {
 public:
  explicit HeldLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_EQ(::flock(fd_.get(), LOCK_EX | LOCK_NB), 0);
  }

 private:
  UniqueFd fd_;
};

std::vector<Kept> Drain(Reader& reader) {
  std::vector<Kept> records;
  for (;;) {
    auto record = reader.Next();
    EXPECT_TRUE(record.ok()) << record.error().message;
    if (!record.ok() || !*record) return records;
    records.push_back(Keep(**record));
  }
}

std::vector<Kept> Without(std::vector<Kept> records, size_t index) {
  records.erase(records.begin() + static_cast<ptrdiff_t>(index));
  return records;
}

std::vector<Kept> From(const std::vector<Kept>& records, size_t first) {
  return {records.begin() + static_cast<ptrdiff_t>(std::min(first, records.size())), records.end()};
}

class ReaderTest : public testing::Test {
 protected:
  TempFolder folder_;
  std::string path_ = folder_ / "host.tj";
};

TEST_F(ReaderTest, AFlippedByteAnywhereIsNotYetWhileAWriterLivesAndAHoleAfterwards) {
  TestSegment segment = SmallSegment();
  for (size_t at = 0; at < segment.bytes.size(); ++at) {
    std::string bytes = segment.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    Put(path_, bytes);
    size_t hit = 0;
    while (at >= kFileHeaderSize && segment.starts[hit + 1] <= at) ++hit;
    std::vector<Kept> rest = at < kFileHeaderSize ? segment.records : Without(segment.records, hit);
    const uint64_t lost =
        at < kFileHeaderSize ? kFileHeaderSize : segment.starts[hit + 1] - segment.starts[hit];

    auto reader = Reader::Open(path_);
    ASSERT_TRUE(reader.ok());
    std::vector<Kept> seen;
    {
      HeldLock writer(path_);
      EXPECT_TRUE(*reader->WriterAlive());
      seen = Drain(*reader);
      ASSERT_LE(seen.size(), rest.size());
      ASSERT_TRUE(std::equal(seen.begin(), seen.end(), rest.begin())) << at;
      if (at >= segment.starts[4]) {
        ASSERT_TRUE(reader->holes().empty()) << "damage at the end is not yet a hole";
      }
    }
    for (Kept& record : Drain(*reader)) seen.push_back(std::move(record));
    EXPECT_FALSE(*reader->WriterAlive());
    reader->Close();
    ASSERT_EQ(seen, rest) << at;
    ASSERT_EQ(reader->holes().size(), 1u) << at;
    EXPECT_EQ(reader->holes()[0].bytes, lost) << at;
    EXPECT_EQ(reader->holes()[0].offset, at < kFileHeaderSize ? 0 : segment.starts[hit]);
  }
}

TEST_F(ReaderTest, FollowsAFileThatGrowsByOneByteAtATime) {
  TestSegment segment = SmallSegment();
  Put(path_, "");
  HeldLock writer(path_);
  UniqueFd out(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  auto reader = Reader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::vector<Kept> seen;
  for (char c : segment.bytes) {
    ASSERT_EQ(::write(out.get(), &c, 1), 1);
    for (Kept& record : Drain(*reader)) seen.push_back(std::move(record));
  }
  EXPECT_EQ(seen, segment.records);
  EXPECT_TRUE(reader->holes().empty());
  EXPECT_EQ(reader->Close(), 0u);
}

TEST_F(ReaderTest, ATailThatIsCutOffAndWrittenAnewIsReadAnew) {
  TestSegment segment = SmallSegment();
  Put(path_, segment.bytes.substr(0, segment.starts[5] - 3));
  auto reader = Reader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::vector<Kept> seen = Drain(*reader);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(reader->Close(), segment.starts[5] - segment.starts[4] - 3);
  EXPECT_EQ(reader->holes().size(), 1u);

  auto writer = Writer::Open({.path = path_, .run_key = kTestKey, .segment = "host"});
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  EXPECT_EQ(writer->torn_bytes(), segment.starts[5] - segment.starts[4] - 3);
  EXPECT_EQ(*writer->Append(run::Notice{run::Level::kInfo, std::string(100, 'n'), ""}), 5u);
  seen = Drain(*reader);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].number, 5u);
  EXPECT_EQ(seen[0].type, static_cast<uint8_t>(run::EventType::kNotice));
  EXPECT_TRUE(reader->holes().empty()) << "the torn tail is gone";
}

TEST_F(ReaderTest, GoesOnAfterAnyRecordWithARightAWrongOrNoOffset) {
  TestSegment segment = SmallSegment();
  Put(path_, segment.bytes);
  for (uint64_t done = 0; done <= 5; ++done) {
    for (uint64_t offset : {segment.starts[done], uint64_t{0}, uint64_t{70}, segment.starts[0],
                            uint64_t{segment.bytes.size()}, uint64_t{1} << 40}) {
      // At the end of the file the reader cannot detect a wrong offset. No reader returns such a
      // cursor.
      if (offset == segment.bytes.size() && done != 5) continue;
      auto reader = Reader::Open(path_, {done, offset});
      ASSERT_TRUE(reader.ok());
      EXPECT_EQ(Drain(*reader), From(segment.records, done)) << done << " " << offset;
      EXPECT_EQ(reader->cursor().record, 5u);
      EXPECT_EQ(reader->cursor().offset, segment.bytes.size());
      EXPECT_EQ(reader->run_key(), kTestKey);
    }
  }
}

TEST_F(ReaderTest, AHoleBeforeTheCursorIsNotReportedAgain) {
  TestSegment segment = SmallSegment();
  std::string bytes = segment.bytes;
  bytes[segment.starts[1] + 2] ^= 1;
  bytes[segment.starts[3] + 2] ^= 1;
  Put(path_, bytes);
  for (uint64_t offset : {segment.starts[3], uint64_t{0}}) {
    auto reader = Reader::Open(path_, {3, offset});
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(Drain(*reader).size(), 1u);
    ASSERT_EQ(reader->holes().size(), 1u);
    EXPECT_EQ(reader->holes()[0].offset, segment.starts[3]);
  }
}

TEST_F(ReaderTest, RecordsOfEverySizeUpToTheLargestAreReadAcrossPieces) {
  std::vector<Kept> expected;
  {
    auto writer = Writer::Open({.path = path_, .run_key = kTestKey, .segment = "host"});
    ASSERT_TRUE(writer.ok());
    uint64_t number = 0;
    for (size_t size : {size_t{1}, size_t{65'000}, size_t{1} << 20, kMaxPayload - 1, size_t{3}}) {
      std::string bytes(size, static_cast<char>('a' + number));
      ASSERT_TRUE(writer->AppendOutput(run::Stream::kStdout, bytes).ok());
      expected.push_back({++number, 0, 4, "\x01" + bytes});
    }
  }
  auto reader = Reader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::vector<Kept> seen = Drain(*reader);
  for (Kept& record : seen) record.time_us = 0;
  EXPECT_TRUE(seen == expected);
}

TEST_F(ReaderTest, SwappedSegmentsAreFoundOut) {
  Put(folder_ / "host.tj", SmallSegment("near-a").bytes);
  for (Cursor cursor : {Cursor{}, Cursor{5, SmallSegment().bytes.size()}}) {
    auto reader = Reader::Open(folder_ / "host.tj", cursor);
    if (reader.ok()) {
      auto record = reader->Next();
      ASSERT_FALSE(record.ok());
      EXPECT_EQ(record.error().kind, ErrorKind::kCorrupt);
    } else {
      EXPECT_EQ(reader.error().kind, ErrorKind::kCorrupt);
    }
  }
}

TEST_F(ReaderTest, AMissingFileIsNotFoundAndAnEmptyOneIsNotYet) {
  auto missing = Reader::Open(path_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  Put(path_, "");
  auto reader = Reader::Open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(Drain(*reader).empty());
  EXPECT_EQ(reader->Close(), 0u);
}

// A power cut takes back records that a reader has seen; then a new writer writes the true end. The
// reader must get it, although it has already seen "more" records than the segment has.
TEST_F(ReaderTest, AReaderAheadOfAPowerCutStillGetsTheEnd) {
  ASSERT_EQ(::setenv("TENON_TEST_BOOT_ID", "boot-1", 1), 0);
  TestSegment segment = SmallSegment();
  Put(path_, segment.bytes.substr(0, segment.starts[2]));
  ASSERT_EQ(::setenv("TENON_TEST_BOOT_ID", "boot-2", 1), 0);
  {
    auto writer = Writer::Open({.path = path_, .run_key = kTestKey, .segment = "host"});
    ASSERT_TRUE(writer.ok());
    auto number = writer->Append(run::End{});
    ASSERT_TRUE(number.ok());
    EXPECT_EQ(*number, FirstOfNextLife(2));
    ASSERT_TRUE(writer->Append(run::Notice{}).ok());
  }
  ::unsetenv("TENON_TEST_BOOT_ID");
  for (uint64_t seen : {2, 3, 4, 5}) {
    auto reader = Reader::Open(path_, {seen, segment.starts[seen]});
    ASSERT_TRUE(reader.ok());
    std::vector<Kept> records = Drain(*reader);
    ASSERT_EQ(records.size(), 2u) << seen;
    EXPECT_EQ(records[0].type, static_cast<uint8_t>(run::EventType::kEnd));
    EXPECT_TRUE(reader->holes().empty());
    const Cursor cursor = reader->cursor();
    auto again = Reader::Open(path_, cursor);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(Drain(*again).empty());
  }
}

TEST_F(ReaderTest, TheCursorNeverGoesBackBehindTheOneGiven) {
  TestSegment segment = SmallSegment();
  Put(path_, segment.bytes.substr(0, segment.starts[2]));
  auto reader = Reader::Open(path_, {5, segment.starts[5]});
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(Drain(*reader).empty());
  EXPECT_EQ(reader->cursor().record, 5u);
}

}  // namespace
}  // namespace tenon::journal
