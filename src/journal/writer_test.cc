// SPDX-License-Identifier: Apache-2.0
#include "journal/writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/temp_folder.h"
#include "journal/reader.h"
#include "journal/test_segment.h"

namespace tenon::journal {
namespace {

using run::Notice;

std::vector<Kept> ReadAll(const std::string& path, uint64_t* hole_bytes = nullptr) {
  std::vector<Kept> records;
  auto reader = Reader::Open(path);
  EXPECT_TRUE(reader.ok());
  for (;;) {
    auto record = reader->Next();
    EXPECT_TRUE(record.ok()) << record.error().message;
    if (!record.ok() || !*record) break;
    records.push_back(Keep(**record));
  }
  reader->Close();
  if (hole_bytes != nullptr) {
    *hole_bytes = 0;
    for (const Hole& hole : reader->holes()) *hole_bytes += hole.bytes;
  }
  return records;
}

uint64_t SizeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return static_cast<uint64_t>(info.st_size);
}

uint64_t AllocatedBytes(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return static_cast<uint64_t>(info.st_blocks) * 512;
}

class WriterTest : public testing::Test {
 protected:
  Result<Writer> Open() { return Writer::Open(options_); }

  TempFolder folder_;
  std::string path_ = folder_ / "host.tj";
  FakeClock clock_;
  Writer::Options options_{.path = path_, .run_key = kTestKey, .segment = "host", .clock = &clock_};
};

TEST_F(WriterTest, WhatIsAppendedIsRead) {
  auto writer = Open();
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  EXPECT_EQ(writer->last_record(), 0u);
  EXPECT_EQ(*writer->Append(run::StateChange{run::State::kRunning, ""}), 1u);
  clock_.now_us -= 7;  // the clock goes back; so do times, but not numbers
  EXPECT_EQ(*writer->AppendOutput(run::Stream::kStderr, "oops\n"), 2u);
  EXPECT_EQ(*writer->Append(run::Output{run::Stream::kStdout, "x"}), 3u);
  EXPECT_EQ(*writer->AppendOutput(run::Stream::kStdout, ""), 3u) << "no bytes, no record";
  EXPECT_TRUE(writer->Sync().ok());
  std::vector<Kept> records = ReadAll(path_);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0], (Kept{1, clock_.now_us + 7, 2, R"({"state":"Running"})"}));
  EXPECT_EQ(records[1], (Kept{2, clock_.now_us, 4, "\x02oops\n"}));
  EXPECT_EQ(records[2].payload, "\x01x");
  EXPECT_EQ(writer->size(), SizeOf(path_));
}

TEST_F(WriterTest, LongOutputBecomesSeveralRecordsOfTheSameBytes) {
  auto writer = Open();
  ASSERT_TRUE(writer.ok());
  std::string bytes(2 * kMaxPayload + 5, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  size_t written = 0;
  EXPECT_EQ(*writer->AppendOutput(run::Stream::kStdout, bytes, &written), 3u);
  EXPECT_EQ(written, bytes.size());
  std::string again;
  for (const Kept& record : ReadAll(path_)) again += record.payload.substr(1);
  EXPECT_TRUE(again == bytes);
}

TEST_F(WriterTest, ARecordThatIsTooLargeIsRefusedAndLeavesNoTrace) {
  auto writer = Open();
  ASSERT_TRUE(writer.ok());
  run::MetricBlock block{"s", "", 0, {}};
  uint64_t x = 1;
  for (int i = 0; i < 700'000; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    run::MetricPoint& point = block.points.emplace_back();
    point.step = point.time_us = i;
    point.value = static_cast<int64_t>(x);
  }
  auto refused = writer->Append(run::Metrics{{block}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(SizeOf(path_), kFileHeaderSize);
  EXPECT_EQ(*writer->Append(Notice{}), 1u);
}

TEST_F(WriterTest, ASecondWriterIsRefusedWhileTheFirstLives) {
  {
    auto first = Open();
    ASSERT_TRUE(first.ok());
    auto second = Open();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
    EXPECT_TRUE(first->Append(Notice{}).ok());
  }
  EXPECT_TRUE(Open().ok());
}

TEST_F(WriterTest, AReaderThatAsksForTheLockNeverKeepsAWriterOut) {
  { ASSERT_TRUE(Open().ok()); }
  std::atomic<bool> stop{false};
  std::thread asker([&] {
    auto reader = Reader::Open(path_);
    while (!stop) EXPECT_TRUE(reader->WriterAlive().ok());
  });
  for (int i = 0; i < 100; ++i) {
    auto writer = Open();
    ASSERT_TRUE(writer.ok()) << writer.error().message;
  }
  stop = true;
  asker.join();
}

TEST_F(WriterTest, ReopeningGoesOnWithTheNextNumber) {
  for (uint64_t i = 1; i <= 5; ++i) {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(writer->last_record(), i - 1);
    EXPECT_EQ(writer->torn_bytes(), 0u);
    EXPECT_EQ(*writer->Append(Notice{}), i);
  }
  EXPECT_EQ(ReadAll(path_).size(), 5u);
}

TEST_F(WriterTest, ReopeningAfterAnyCutKeepsTheWholeRecordsAndCutsTheRest) {
  TestSegment segment = SmallSegment();
  for (size_t length = 0; length <= segment.bytes.size(); ++length) {
    ASSERT_TRUE(
        WriteFileAtomically(path_, segment.bytes.substr(0, length), 0644, Durability::kProcess)
            .ok());
    size_t whole = 0;
    while (whole < 5 && segment.starts[whole + 1] <= length) ++whole;
    auto writer = Open();
    ASSERT_TRUE(writer.ok()) << length << " " << writer.error().message;
    const uint64_t end = length < kFileHeaderSize ? 0 : segment.starts[whole];
    EXPECT_EQ(writer->torn_bytes(), length - end);
    EXPECT_EQ(*writer->Append(Notice{run::Level::kInfo, "on", ""}), whole + 1);
    uint64_t holes = 0;
    std::vector<Kept> records = ReadAll(path_, &holes);
    ASSERT_EQ(records.size(), whole + 1) << length;
    EXPECT_EQ(holes, 0u);
  }
}

TEST_F(WriterTest, ZerosAfterAPowerCutAreCutOff) {
  TestSegment segment = SmallSegment();
  for (size_t zeros : {1, 64, 5000}) {
    ASSERT_TRUE(WriteFileAtomically(path_, segment.bytes + std::string(zeros, '\0'), 0644,
                                    Durability::kProcess)
                    .ok());
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(writer->torn_bytes(), zeros);
    EXPECT_EQ(SizeOf(path_), segment.bytes.size());
  }
  ASSERT_TRUE(WriteFileAtomically(path_, std::string(200, '\0'), 0644, Durability::kProcess).ok());
  auto writer = Open();
  ASSERT_TRUE(writer.ok()) << "a header of zeros was never begun";
  EXPECT_EQ(*writer->Append(Notice{}), 1u);
  EXPECT_EQ(ReadAll(path_).size(), 1u);
}

TEST_F(WriterTest, AHoleInTheMiddleStaysWhereItIs) {
  TestSegment segment = SmallSegment();
  std::string bytes = segment.bytes;
  bytes[segment.starts[2] + 1] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(path_, bytes, 0644, Durability::kProcess).ok());
  auto writer = Open();
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->torn_bytes(), 0u);
  EXPECT_EQ(*writer->Append(Notice{}), 6u);
  uint64_t holes = 0;
  EXPECT_EQ(ReadAll(path_, &holes).size(), 5u);
  EXPECT_EQ(holes, segment.starts[3] - segment.starts[2]);
}

// A disk that forgets unsynced bytes can leave any length from the synced size on.
TEST_F(WriterTest, WhatWasSyncedSurvivesAnyCutBehindIt) {
  uint64_t synced_size = 0;
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->Append(Notice{}).ok());
    ASSERT_TRUE(writer->Sync().ok());
    synced_size = writer->size();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->Append(Notice{}).ok());
  }
  const std::string bytes = *ReadFile(path_);
  for (size_t length = synced_size; length <= bytes.size(); ++length) {
    for (bool zeros : {false, true}) {
      std::string left = bytes.substr(0, length);
      if (zeros) left.resize(bytes.size(), '\0');
      ASSERT_TRUE(WriteFileAtomically(path_, left, 0644, Durability::kProcess).ok());
      auto writer = Open();
      ASSERT_TRUE(writer.ok());
      EXPECT_GE(writer->last_record(), 3u);
      ASSERT_TRUE(writer->Append(run::End{}).ok());
      uint64_t holes = 0;
      std::vector<Kept> records = ReadAll(path_, &holes);
      EXPECT_EQ(holes, 0u);
      EXPECT_EQ(records.back().type, static_cast<uint8_t>(run::EventType::kEnd));
    }
  }
}

TEST_F(WriterTest, AnotherBootDoesNotGiveOutNumbersAgain) {
  ASSERT_EQ(::setenv("TENON_TEST_BOOT_ID", "first", 1), 0);
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(*writer->Append(Notice{}), 1u);
  }
  ASSERT_EQ(::setenv("TENON_TEST_BOOT_ID", "second", 1), 0);
  const uint64_t second = (uint64_t{1} << 32) | 1, third = (uint64_t{2} << 32) | 1;
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(*writer->Append(Notice{}), second);
    EXPECT_EQ(*writer->Append(Notice{}), second + 1);
  }
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(*writer->Append(Notice{}), third);
  }
  ::unsetenv("TENON_TEST_BOOT_ID");
  auto reader = Reader::Open(path_);
  while (true) {
    auto record = reader->Next();
    ASSERT_TRUE(record.ok());
    if (!*record) break;
  }
  EXPECT_TRUE(reader->holes().empty());
}

TEST_F(WriterTest, TheSegmentOfAnotherRunOrNameIsLeftAlone) {
  { ASSERT_TRUE(Open().ok()); }
  const std::string before = *ReadFile(path_);
  Writer::Options other = options_;
  other.run_key = "00000000-9dad-41d1-80b4-00c04fd430c8";
  auto wrong_run = Writer::Open(other);
  ASSERT_FALSE(wrong_run.ok());
  EXPECT_EQ(wrong_run.error().kind, ErrorKind::kInvalid);
  ASSERT_EQ(::rename(path_.c_str(), (folder_ / "near-a.tj").c_str()), 0);
  other = options_;
  other.path = folder_ / "near-a.tj";
  other.segment = "near-a";
  EXPECT_FALSE(Writer::Open(other).ok());
  other.segment = "host";
  EXPECT_FALSE(Writer::Open(other).ok()) << "a name that does not suit the path";
  EXPECT_EQ(*ReadFile(folder_ / "near-a.tj"), before);
}

TEST_F(WriterTest, AFileThatIsNoSegmentIsLeftAlone) {
  const std::string text(500, 'x');
  ASSERT_TRUE(WriteFileAtomically(path_, text, 0644, Durability::kProcess).ok());
  auto writer = Open();
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(*ReadFile(path_), text);
}

TEST_F(WriterTest, SyncRunsBesideAppend) {
  auto writer = Open();
  ASSERT_TRUE(writer.ok());
  std::atomic<bool> stop{false};
  std::thread syncer([&] {
    while (!stop) {
      EXPECT_TRUE(writer->Sync().ok());
      EXPECT_GE(writer->size(), kFileHeaderSize);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(writer->AppendOutput(run::Stream::kStdout, "line\n").ok());
  }
  stop = true;
  syncer.join();
  EXPECT_EQ(writer->last_record(), 2000u);
  EXPECT_EQ(ReadAll(path_).size(), 2000u);
}

TEST_F(WriterTest, AMovedWriterWritesOn) {
  auto opened = Open();
  ASSERT_TRUE(opened.ok());
  Writer writer = std::move(*opened);
  EXPECT_EQ(*writer.Append(Notice{}), 1u);
  EXPECT_FALSE(Open().ok());
}

TEST_F(WriterTest, TheReservationIsThereWhileWritingAndGivenBackAfterwards) {
  options_.reserve = true;
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(writer->AppendOutput(run::Stream::kStdout, std::string(30'000, 'x')).ok());
      ASSERT_EQ(SizeOf(path_), writer->size()) << "reserved space must not show in the size";
      if (!Exists(path_ + ".reserve")) {
        ASSERT_GE(AllocatedBytes(path_), writer->size() + kReserve);
      }
    }
  }
  EXPECT_LT(AllocatedBytes(path_), SizeOf(path_) + kReserve);
  EXPECT_FALSE(Exists(path_ + ".reserve"));
}

TEST_F(WriterTest, WhereNothingCanBeAllocatedAheadAFileHoldsThePlace) {
  options_.reserve = true;
  options_.allocate_ahead = false;
  {
    auto writer = Open();
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(SizeOf(path_ + ".reserve"), kReserve);
    ASSERT_TRUE(writer->Append(Notice{}).ok());
    ASSERT_TRUE(writer->AppendLast(run::End{}).ok());
  }
  EXPECT_FALSE(Exists(path_ + ".reserve"));
  EXPECT_EQ(ReadAll(path_).size(), 2u);
}

TEST_F(WriterTest, AReadOnlyFolderIsAnErrorThatNamesThePath) {
  options_.path = folder_ / "missing/host.tj";
  auto writer = Open();
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(writer.error().message.find("missing/host.tj"), std::string::npos);
}

}  // namespace
}  // namespace tenon::journal
