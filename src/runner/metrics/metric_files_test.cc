// SPDX-License-Identifier: Apache-2.0
#include "runner/metrics/metric_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/file.h"
#include "base/process.h"
#include "base/source_tree.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

template <typename T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

uint64_t OwnNamespace() {
  struct stat info;
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

// A chunk as the shim writes it, byte by byte.
class Chunk {
 public:
  explicit Chunk(uint32_t number = 0, uint32_t pid = static_cast<uint32_t>(getpid())) {
    bytes_ = std::string("TENONTM\n") + Bytes<uint32_t>(1) + Bytes(pid) + Bytes(number) +
             Bytes<uint32_t>(0) + Bytes<uint64_t>(0) + Bytes<uint64_t>(0) + Bytes<uint64_t>(0) +
             Bytes<uint64_t>(0) + Bytes<uint64_t>(0);
  }
  Chunk& Raw(uint8_t tag, uint32_t series, double time, int64_t step, uint64_t value,
             std::string payload = "", uint8_t flags = 0) {
    payload.resize((payload.size() + 7) / 8 * 8);
    bytes_ += std::string(1, static_cast<char>(tag)) + std::string(1, static_cast<char>(flags)) +
              Bytes<uint16_t>(0) + Bytes(series) + Bytes(time) + Bytes(step) + Bytes(value) +
              payload;
    return *this;
  }
  Chunk& Name(uint32_t series, const std::string& name) {
    return Raw(6, series, 0, 0, name.size(), name);
  }
  Chunk& Number(uint32_t series, int64_t step, double value) {
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    return Raw(1, series, 1.5, step, raw);
  }
  Chunk& End() { return Raw(127, 0, 0, 0, 0); }
  Chunk& EndOfFamily() { return Raw(126, 0, 0, 0, 0); }
  Chunk& At(uint64_t offset, const std::string& bytes) {
    bytes_.replace(offset, bytes.size(), bytes);
    return *this;
  }
  Chunk& Owner(uint64_t pid_namespace, uint64_t start) {
    return At(32, Bytes(pid_namespace)).At(40, Bytes(start));
  }
  size_t end() const { return bytes_.size(); }
  std::string Content(size_t size = 65536) const {
    std::string content = bytes_;
    content.resize(std::max(size, content.size()));
    return content.replace(24, 8, Bytes<uint64_t>(content.size()));
  }

 private:
  std::string bytes_;
};

class MetricFilesTest : public testing::Test {
 protected:
  MetricFilesTest() {
    char name[] = "/tmp/tenon-metric-files-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~MetricFilesTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }

  std::string Path(const std::string& name) { return JoinPath(folder_, name); }
  void Put(const std::string& name, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomically(Path(name), content, 0600, Durability::kProcess).ok());
  }
  MetricFiles Open(MetricPositions positions = {}) {
    auto files = MetricFiles::Open(folder_, std::move(positions), clock_);
    EXPECT_TRUE(files.ok());
    return *std::move(files);
  }
  MetricFiles::Round Poll(MetricFiles& files,
                          MetricFiles::Phase phase = MetricFiles::Phase::kRunning) {
    auto round = files.Poll(phase);
    EXPECT_TRUE(round.ok());
    return *std::move(round);
  }
  // Everything in the folder, read as a runner reads it.
  std::vector<run::MetricBlock> ReadAll(MetricFiles& files,
                                        std::vector<std::string>* notices = nullptr,
                                        MetricFiles::Phase phase = MetricFiles::Phase::kRunning) {
    std::vector<run::MetricBlock> all;
    for (int rounds = 0;; ++rounds) {
      EXPECT_LT(rounds, 10000) << "reading does not come to an end";
      auto round = Poll(files, phase);
      for (auto& block : round.blocks) all.push_back(std::move(block));
      if (notices) notices->insert(notices->end(), round.notices.begin(), round.notices.end());
      files.Commit();
      if (!round.more || rounds >= 10000) return all;
    }
  }
  uint64_t ReadSynced(const std::string& name) {
    auto content = ReadFile(Path(name));
    uint64_t synced = 0;
    if (content.ok()) memcpy(&synced, content->data() + 56, 8);
    return synced;
  }
  void SetWant(const std::string& name, uint64_t want) {
    auto fd = OpenFile(Path(name), O_RDWR);
    ASSERT_TRUE(fd.ok());
    ASSERT_TRUE(WriteAllAt(fd->get(), Bytes(want), 48).ok());
  }
  void Append(const std::string& name, const Chunk& chunk, size_t from) {
    auto fd = OpenFile(Path(name), O_RDWR);
    ASSERT_TRUE(fd.ok());
    std::string bytes = chunk.Content().substr(from, chunk.end() - from);
    ASSERT_TRUE(WriteAllAt(fd->get(), bytes, from).ok());
  }

  std::string folder_;
  FakeClock clock_;
};

std::vector<double> Numbers(const std::vector<run::MetricBlock>& blocks,
                            const std::string& series) {
  std::vector<double> numbers;
  for (const auto& block : blocks) {
    if (block.series != series) continue;
    for (const auto& point : block.points) numbers.push_back(std::get<double>(point.value));
  }
  return numbers;
}

TEST_F(MetricFilesTest, EveryKindOfValueArrivesAsItWas) {
  std::string list = Bytes(1.0) + Bytes(-2.5);
  Chunk chunk;
  chunk.Name(7, "größe").Number(7, 3, 0.25);
  chunk.Raw(2, 7, 2.0, 4, static_cast<uint64_t>(-9)).Raw(3, 7, 2.0, 5, 1);
  chunk.Raw(4, 7, 2.0, -6, 5, "hello").Raw(5, 7, 1700000000.25, 7, 2, list).Raw(5, 7, 2.0, 8, 0);
  Put("12-00c0ffee.0.tm", chunk.Content());
  MetricFiles files = Open();
  auto round = Poll(files);
  ASSERT_EQ(round.blocks.size(), 1u);
  const run::MetricBlock& block = round.blocks[0];
  EXPECT_EQ(block.series, "größe");
  EXPECT_EQ(block.source, "12-00c0ffee.0");
  EXPECT_EQ(block.position, chunk.end());
  ASSERT_EQ(block.points.size(), 6u);
  EXPECT_EQ(block.points[0].value, run::MetricValue(0.25));
  EXPECT_EQ(block.points[0].step, 3);
  EXPECT_EQ(block.points[0].time_us, 1500000);
  EXPECT_EQ(block.points[1].value, run::MetricValue(int64_t{-9}));
  EXPECT_EQ(block.points[2].value, run::MetricValue(true));
  EXPECT_EQ(block.points[3].value, run::MetricValue(std::string("hello")));
  EXPECT_EQ(block.points[3].step, -6);
  EXPECT_EQ(block.points[4].value, run::MetricValue(std::vector<double>{1.0, -2.5}));
  EXPECT_EQ(block.points[4].time_us, 1700000000250000);
  EXPECT_EQ(block.points[5].value, run::MetricValue(std::vector<double>{}));
  EXPECT_TRUE(round.notices.empty());
  EXPECT_FALSE(round.more);
}

TEST_F(MetricFilesTest, PollWithoutCommitLosesNothing) {
  Put("1-00000001.0.tm",
      Chunk().Name(0, "a").Number(0, 0, 1).Number(0, 1, 2).EndOfFamily().Content());
  MetricFiles files = Open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Numbers(Poll(files).blocks, "a"), (std::vector<double>{1, 2}));
    EXPECT_TRUE(Exists(Path("1-00000001.0.tm")));
  }
  files.Commit();
  EXPECT_FALSE(Exists(Path("1-00000001.0.tm")));
  EXPECT_EQ(files.families(), 0u);
  EXPECT_TRUE(Poll(files).blocks.empty());
}

TEST_F(MetricFilesTest, CommittedPointsDoNotComeAgain) {
  Chunk chunk;
  chunk.Name(0, "a").Number(0, 0, 1);
  Put("1-00000001.0.tm", chunk.Content());
  MetricFiles files = Open();
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{1}));
  EXPECT_TRUE(ReadAll(files).empty());
  size_t before = chunk.end();
  Append("1-00000001.0.tm", chunk.Number(0, 1, 2), before);
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{2}));
}

TEST_F(MetricFilesTest, BodyWithoutTagIsNotYet) {
  Chunk chunk;
  chunk.Name(0, "a").Number(0, 0, 1);
  size_t second = chunk.end();
  chunk.Number(0, 1, 2);
  std::string content = chunk.Content();
  content[second] = 0;
  Put("1-00000001.0.tm", content);
  MetricFiles files = Open();
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{1}));
  Append("1-00000001.0.tm", chunk, second);
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{2}));
}

TEST_F(MetricFilesTest, ChunksAreReadInOrderAndDeleted) {
  Put("1-00000001.0.tm", Chunk(0).Name(0, "a").Number(0, 0, 1).End().Content());
  Put("1-00000001.1.tm", Chunk(1).Name(0, "a").Number(0, 1, 2).End().Content());
  Put("1-00000001.10.tm", Chunk(10).Name(0, "a").Number(0, 3, 4).Content());
  Put("1-00000001.2.tm", Chunk(2).Name(0, "a").Number(0, 2, 3).End().Content());
  Put("1-00000001.11.tm.new", "half made");
  MetricFiles files = Open();
  std::vector<std::string> notices;
  EXPECT_EQ(Numbers(ReadAll(files, &notices), "a"), (std::vector<double>{1, 2, 3, 4}));
  ASSERT_EQ(notices.size(), 1u);  // chunks 3 to 9 are missing
  EXPECT_NE(notices[0].find("1-00000001.3.tm"), std::string::npos);
  EXPECT_FALSE(Exists(Path("1-00000001.0.tm")));
  EXPECT_FALSE(Exists(Path("1-00000001.2.tm")));
  EXPECT_TRUE(Exists(Path("1-00000001.10.tm")));
}

TEST_F(MetricFilesTest, MoreThanOneRoundKeepsOrderAcrossManyProcesses) {
  constexpr int kProcesses = 100, kPoints = 400;  // more than is kept open and read at once
  for (int p = 0; p < kProcesses; ++p) {
    Chunk chunk;
    chunk.Name(0, "s" + std::to_string(p));
    for (int i = 0; i < kPoints; ++i) chunk.Number(0, i, i + p);
    char name[64];
    snprintf(name, sizeof name, "%d-%08x.0.tm", p + 1, p);
    Put(name, chunk.EndOfFamily().Content());
  }
  MetricFiles files = Open();
  auto round = Poll(files);
  EXPECT_TRUE(round.more);
  auto blocks = ReadAll(files);
  for (int p = 0; p < kProcesses; ++p) {
    auto numbers = Numbers(blocks, "s" + std::to_string(p));
    ASSERT_EQ(numbers.size(), static_cast<size_t>(kPoints)) << p;
    for (int i = 0; i < kPoints; ++i) ASSERT_EQ(numbers[i], i + p);
  }
  EXPECT_EQ(files.families(), 0u);
}

TEST_F(MetricFilesTest, UncommittedRoundBeforeAFullOneIsNotCommittedByIt) {
  // Two large families: one round reads only the first. What a failed round has read of the second
  // must not count.
  for (int p = 1; p <= 2; ++p) {
    Chunk chunk;
    chunk.Name(0, "s" + std::to_string(p));
    for (int i = 0; i < 20000; ++i) chunk.Number(0, i, i);
    Put(std::to_string(p) + "-0000000" + std::to_string(p) + ".0.tm", chunk.Content());
  }
  MetricFiles files = Open();
  for (int i = 0; i < 5; ++i) Poll(files);  // the journal refused all of them
  auto blocks = ReadAll(files);
  EXPECT_EQ(Numbers(blocks, "s1").size(), 20000u);
  EXPECT_EQ(Numbers(blocks, "s2").size(), 20000u);
}

TEST_F(MetricFilesTest, RoundThatEndsInsideARecordSaysThereIsMore) {
  for (size_t name_length = 1; name_length <= 40; name_length += 8) {
    Chunk chunk;
    chunk.Name(0, std::string(name_length, 'n'));
    for (int i = 0; i < 17000; ++i) chunk.Number(0, i, i);
    Put("1-00000001.0.tm", chunk.Content());
    MetricFiles files = Open();
    EXPECT_EQ(Numbers(ReadAll(files), std::string(name_length, 'n')).size(), 17000u);
  }
}

TEST_F(MetricFilesTest, LargestTextAndListFit) {
  std::string text(kMaxMetricText, 'x');
  std::string list(kMaxMetricList * 8, '\0');
  Put("1-00000001.0.tm",
      Chunk().Name(0, "t").Raw(4, 0, 1, 0, text.size(), text, 1).End().Content());
  Put("1-00000001.1.tm", Chunk(1).Name(0, "t").Raw(5, 0, 1, 1, kMaxMetricList, list).Content());
  MetricFiles files = Open();
  std::vector<std::string> notices;
  auto blocks = ReadAll(files, &notices);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(std::get<std::string>(blocks[0].points[0].value), text);
  EXPECT_EQ(std::get<std::vector<double>>(blocks[1].points[0].value).size(), kMaxMetricList);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("cut"), std::string::npos);
}

TEST_F(MetricFilesTest, PointsTheScriptDroppedAreReported) {
  Put("1-00000001.0.tm", Chunk().Raw(7, 0, 1, 0, 4711).Content());
  MetricFiles files = Open();
  EXPECT_EQ(Poll(files).dropped, 4711u);
}

TEST_F(MetricFilesTest, PointsWithoutAPlaceAreAddedUp) {
  MetricFiles files = Open();
  EXPECT_EQ(files.Missing(), 0u);
  // Two processes have taken a slot each: process id and count.
  auto fd = OpenFile(folder_ + "/lost", O_RDWR);
  ASSERT_TRUE(fd.ok());
  const uint64_t slots[] = {77, 40, 0, 0, 78, 2};
  const std::string_view bytes(reinterpret_cast<const char*>(slots), sizeof slots);
  ASSERT_TRUE(WriteAllAt(fd->get(), bytes, 32).ok());
  EXPECT_EQ(files.Missing(), 42u);
  EXPECT_EQ(Open().Missing(), 42u);  // a new runner finds them
}

TEST_F(MetricFilesTest, WhatTheJournalHasNotGotStaysInItsFile) {
  Put("1-00000001.0.tm", Chunk(0).Name(0, "a").Number(0, 0, 1).End().Content());
  Put("1-00000001.1.tm", Chunk(1).Name(0, "a").Number(0, 1, 2).Content());
  MetricFiles files = Open();
  files.KeepFiles();
  EXPECT_EQ(Numbers(ReadAll(files, nullptr, MetricFiles::Phase::kOver), "a"),
            (std::vector<double>{1, 2}));
  EXPECT_TRUE(Exists(folder_ + "/1-00000001.0.tm"));
  EXPECT_TRUE(Exists(folder_ + "/1-00000001.1.tm"));
}

TEST_F(MetricFilesTest, TakeoverRepeatsNothingAndLosesNothing) {
  Chunk first, second(1);
  first.Name(0, "a").Name(1, "b").Number(0, 0, 1).Number(1, 0, 10);
  first.Number(0, 1, 2).Number(1, 1, 20).End();
  second.Name(1, "b").Name(0, "a").Number(1, 2, 30).Number(0, 2, 3);
  // A runner may die between any two blocks. For every set of blocks that the journal may then
  // have, the remaining points are returned.
  auto put = [&] {
    Put("5-0000000a.0.tm", first.Content());
    Put("5-0000000a.1.tm", second.Content());
  };
  put();
  std::vector<run::MetricBlock> all;
  {
    MetricFiles files = Open();
    all = ReadAll(files);
  }
  ASSERT_EQ(all.size(), 4u);
  for (size_t journaled = 0; journaled <= all.size(); ++journaled) {
    for (size_t skipped = 0; skipped <= journaled; ++skipped) {
      put();
      MetricPositions positions;
      std::vector<run::MetricBlock> whole(all.begin(), all.begin() + journaled);
      // Also without one of the last round's blocks, whatever their order was.
      if (journaled == 2 && skipped == 1) whole.erase(whole.begin());
      for (const auto& block : whole) positions.Add(block);
      MetricFiles files = Open(positions);
      auto rest = ReadAll(files);
      whole.insert(whole.end(), rest.begin(), rest.end());
      auto a = Numbers(whole, "a"), b = Numbers(whole, "b");
      EXPECT_EQ(a, (std::vector<double>{1, 2, 3})) << journaled;
      EXPECT_EQ(b, (std::vector<double>{10, 20, 30})) << journaled;
    }
  }
}

TEST_F(MetricFilesTest, BlocksFromElsewhereAreNoPositions) {
  MetricPositions positions;
  positions.Add({"a", "", 100, {}});
  positions.Add({"a", "../../etc.0", 100, {}});
  EXPECT_FALSE(positions.Has("", "a", 0, 1));
  positions.Add({"a", "5-0000000a.2", 100, {}});
  EXPECT_TRUE(positions.Has("5-0000000a", "a", 1, 5000));
  EXPECT_TRUE(positions.Has("5-0000000a", "a", 2, 100));
  EXPECT_FALSE(positions.Has("5-0000000a", "a", 2, 132));
  EXPECT_FALSE(positions.Has("5-0000000a", "b", 0, 1));
  EXPECT_FALSE(positions.Has("6-0000000a", "a", 0, 1));
}

TEST_F(MetricFilesTest, WaiterIsToldOnlyAfterTheSync) {
  const std::string name = "1-00000001.0.tm";
  Chunk chunk;
  chunk.Name(0, "a").Number(0, 0, 1);
  Put(name, chunk.Content());
  MetricFiles files = Open();
  EXPECT_FALSE(Poll(files).sync_wanted);
  files.Commit();
  SetWant(name, chunk.end());
  EXPECT_TRUE(Poll(files).sync_wanted);
  files.Commit();
  EXPECT_EQ(ReadSynced(name), 0u);
  files.MarkSynced();
  EXPECT_EQ(ReadSynced(name), chunk.end());
  EXPECT_FALSE(Poll(files).sync_wanted);
}

TEST_F(MetricFilesTest, AbsurdWantDoesNotAskForEver) {
  const std::string name = "1-00000001.0.tm";
  Chunk chunk;
  Put(name, chunk.Name(0, "a").Number(0, 0, 1).Content());
  SetWant(name, UINT64_MAX);
  MetricFiles files = Open();
  EXPECT_TRUE(Poll(files).sync_wanted);
  files.Commit();
  files.MarkSynced();
  EXPECT_FALSE(Poll(files).sync_wanted);
}

TEST_F(MetricFilesTest, ChunkSomebodyWaitsOnIsNotDeletedBeforeTheSync) {
  const std::string name = "1-00000001.0.tm";
  Chunk chunk;
  chunk.Name(0, "a").Number(0, 0, 1);
  uint64_t want = chunk.end();
  Put(name, chunk.EndOfFamily().Content());
  MetricFiles files = Open();
  Poll(files);
  SetWant(name, want);  // between the read and the commit
  auto waiter = OpenFile(Path(name), O_RDONLY);
  ASSERT_TRUE(waiter.ok());
  files.Commit();
  EXPECT_TRUE(Exists(Path(name)));
  auto round = Poll(files);
  EXPECT_TRUE(round.sync_wanted);
  EXPECT_TRUE(round.blocks.empty());
  files.Commit();
  files.MarkSynced();
  EXPECT_FALSE(Exists(Path(name)));
  EXPECT_EQ(files.families(), 0u);
  uint64_t synced = 0;
  ASSERT_EQ(pread(waiter->get(), &synced, 8, 56), 8);
  EXPECT_GE(synced, want);
}

TEST_F(MetricFilesTest, WakeIsReadableAndDrained) {
  MetricFiles files = Open();
  auto readable = [&] {
    pollfd item{files.wake_fd(), POLLIN, 0};
    return poll(&item, 1, 0) == 1;
  };
  EXPECT_FALSE(readable());
  for (int i = 0; i < 3; ++i) {
    auto fifo = OpenFile(Path("wake"), O_WRONLY | O_NONBLOCK);
    ASSERT_TRUE(fifo.ok());
    ASSERT_TRUE(WriteAll(fifo->get(), "x").ok());
  }
  EXPECT_TRUE(readable());
  files.DrainWake();
  EXPECT_FALSE(readable());
}

// A process that is certainly gone, with its start time.
ProcessId GoneProcess() {
  pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  auto id = IdentifyProcess(pid);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return id.value_or(ProcessId{});
}

TEST_F(MetricFilesTest, FilesOfKilledProcessGoWhenItIsSeenToBeGone) {
  ProcessId gone = GoneProcess();
  ASSERT_NE(gone.start_ticks, 0u);
  uint32_t pid = static_cast<uint32_t>(gone.pid);
  std::string family = std::to_string(pid) + "-00000001";
  Put(family + ".0.tm",
      Chunk(0, pid).Owner(OwnNamespace(), gone.start_ticks).Name(0, "a").Number(0, 0, 1).Content());
  Put(family + ".1.tm", Chunk(1, pid).Owner(OwnNamespace(), gone.start_ticks).Content());
  MetricFiles files = Open();
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{1}));
  EXPECT_TRUE(Exists(Path(family + ".0.tm")));
  for (int i = 0; i < 12; ++i) {
    clock_.Advance(1'000'000);
    EXPECT_TRUE(ReadAll(files).empty());
  }
  EXPECT_FALSE(Exists(Path(family + ".0.tm")));
  EXPECT_FALSE(Exists(Path(family + ".1.tm")));
  EXPECT_EQ(files.families(), 0u);
}

TEST_F(MetricFilesTest, FilesOfLivingAndForeignProcessesStay) {
  auto self = IdentifyProcess(getpid());
  ASSERT_TRUE(self.has_value());
  ProcessId gone = GoneProcess();
  uint32_t dead = static_cast<uint32_t>(gone.pid);
  // Three writers: one alive, one whose number is free but of another namespace, one unknown.
  Put("1-00000001.0.tm", Chunk().Owner(OwnNamespace(), self->start_ticks).Name(0, "a").Content());
  Put("2-00000002.0.tm", Chunk(0, dead).Owner(OwnNamespace() + 1, gone.start_ticks).Content());
  Put("3-00000003.0.tm", Chunk(0, dead).Owner(0, 0).Content());
  MetricFiles files = Open();
  for (int i = 0; i < 12; ++i) {
    ReadAll(files);
    clock_.Advance(1'000'000);
  }
  EXPECT_EQ(files.families(), 3u);
  EXPECT_TRUE(Exists(Path("1-00000001.0.tm")));
  EXPECT_TRUE(Exists(Path("2-00000002.0.tm")));
  EXPECT_TRUE(Exists(Path("3-00000003.0.tm")));
}

TEST_F(MetricFilesTest, ChunkLeftWithoutEndDoesNotHoldUpTheNext) {
  Put("1-00000001.0.tm", Chunk(0).Name(0, "a").Number(0, 0, 1).Content());
  Put("1-00000001.1.tm", Chunk(1).Name(0, "a").Number(0, 1, 2).Content());
  MetricFiles files = Open();
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{1}));
  std::vector<double> later;
  for (int i = 0; i < 8; ++i) {
    clock_.Advance(1'000'000);
    for (double number : Numbers(ReadAll(files), "a")) later.push_back(number);
  }
  EXPECT_EQ(later, (std::vector<double>{2}));
}

TEST_F(MetricFilesTest, AfterTheEndEverythingIsReadAndTheFolderIsLeftEmpty) {
  Put("1-00000001.0.tm", Chunk(0).Name(0, "a").Number(0, 0, 1).Content());
  Put("1-00000001.1.tm", Chunk(1).Name(0, "a").Number(0, 1, 2).Content());
  Put("2-00000002.0.tm", Chunk(0).Name(0, "b").Number(0, 0, 3).End().Content());
  SetWant("1-00000001.0.tm", 100);
  MetricFiles files = Open();
  auto blocks = ReadAll(files, nullptr, MetricFiles::Phase::kOver);
  EXPECT_EQ(Numbers(blocks, "a"), (std::vector<double>{1, 2}));
  EXPECT_EQ(Numbers(blocks, "b"), (std::vector<double>{3}));
  EXPECT_EQ(files.families(), 0u);
  auto names = ListDir(folder_);
  ASSERT_TRUE(names.ok());
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"lost", "wake"}));
}

struct Damage {
  const char* what;
  std::function<void(const std::string& path)> make;
};

TEST_F(MetricFilesTest, NonsenseDropsItsFamilyAndNoOther) {
  Chunk good;
  good.Name(0, "a").Number(0, 0, 1);
  auto write = [](const std::string& content) {
    return [content](const std::string& path) {
      ASSERT_TRUE(WriteFileAtomically(path, content, 0600, Durability::kProcess).ok());
    };
  };
  std::string other = Path("other");
  ASSERT_TRUE(WriteFileAtomically(other, good.Content(), 0600, Durability::kProcess).ok());
  std::vector<Damage> damages = {
      {"symlink",
       [&](const std::string& path) { ASSERT_EQ(symlink(other.c_str(), path.c_str()), 0); }},
      {"hard link",
       [&](const std::string& path) { ASSERT_EQ(link(other.c_str(), path.c_str()), 0); }},
      {"fifo", [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
      {"folder", [](const std::string& path) { ASSERT_EQ(mkdir(path.c_str(), 0700), 0); }},
      {"empty", write("")},
      {"short", write(good.Content().substr(0, 40))},
      {"not ours", write(std::string(65536, 'x'))},
      {"version 2", write(Chunk().At(8, Bytes<uint32_t>(2)).Content())},
      {"too large", write(Chunk().Content(kMaxMetricChunk + 8))},
      {"size differs", write(good.Content() + "12345678")},
      {"number differs", write(Chunk(1).Content())},
      {"unknown tag", write(Chunk().Raw(99, 0, 0, 0, 0).Content())},
      {"huge text", write(Chunk().Name(0, "a").Raw(4, 0, 0, 0, UINT64_MAX).Content())},
      {"huge list", write(Chunk().Name(0, "a").Raw(5, 0, 0, 0, UINT64_MAX / 8 + 1).Content())},
      {"huge name", write(Chunk().Raw(6, 0, 0, 0, 2000, std::string(2000, 'n')).Content())},
      {"empty name", write(Chunk().Raw(6, 0, 0, 0, 0).Content())},
      {"beyond the end", write(Chunk().Name(0, "a").Raw(4, 0, 0, 0, 60000).Content(4096))},
      {"name not UTF-8", write(Chunk().Name(0, "\xff\xfe").Content())},
      {"text not UTF-8", write(Chunk().Name(0, "a").Raw(4, 0, 0, 0, 1, "\xff").Content())},
      {"no name", write(Chunk().Number(5, 0, 1).Content())},
      {"two names", write(Chunk().Name(0, "a").Name(0, "b").Content())},
      {"boolean 2", write(Chunk().Name(0, "a").Raw(3, 0, 0, 0, 2).Content())},
      {"time not a number", write(Chunk().Name(0, "a").Raw(1, 0, NAN, 0, 0).Content())},
      {"unknown flags", write(Chunk().Name(0, "a").Raw(1, 0, 1, 0, 0, "", 4).Content())},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    std::string bad = Path("9-00000009.0.tm");
    damage.make(bad);
    Put("1-00000001.0.tm", good.Content());
    MetricFiles files = Open();
    std::vector<std::string> notices;
    EXPECT_EQ(Numbers(ReadAll(files, &notices), "a"), (std::vector<double>{1}));
    ReadAll(files, &notices);
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_NE(notices[0].find("9-00000009.0.tm"), std::string::npos);
    EXPECT_EQ(files.families(), 1u);
    auto untouched = ReadFile(other);
    ASSERT_TRUE(untouched.ok());
    EXPECT_EQ(*untouched, good.Content());
    ASSERT_TRUE(RemoveTree(bad).ok());
    ASSERT_TRUE(RemoveFile(Path("1-00000001.0.tm")).ok());
  }
}

TEST_F(MetricFilesTest, FileTruncatedWhileReadIsDropped) {
  Put("1-00000001.0.tm", Chunk().Name(0, "a").Number(0, 0, 1).Content());
  MetricFiles files = Open();
  EXPECT_EQ(Numbers(ReadAll(files), "a"), (std::vector<double>{1}));
  ASSERT_EQ(truncate(Path("1-00000001.0.tm").c_str(), 0), 0);
  std::vector<std::string> notices;
  EXPECT_TRUE(ReadAll(files, &notices).empty());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("truncated"), std::string::npos);
}

TEST_F(MetricFilesTest, AnyFlippedByteIsSurvived) {
  Chunk chunk;
  chunk.Name(0, "a").Number(0, 0, 1).Raw(4, 0, 1, 1, 5, "hello");
  chunk.Raw(5, 0, 1, 2, 1, Bytes(1.0)).Raw(3, 0, 1, 3, 1).Raw(7, 0, 1, 0, 2).End();
  std::string content = chunk.Content(4096);
  for (size_t at = 0; at < chunk.end(); ++at) {
    for (int change : {0x01, 0x80, 0xff}) {
      std::string damaged = content;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      Put("1-00000001.0.tm", damaged);
      MetricFiles files = Open();
      auto blocks = ReadAll(files, nullptr, MetricFiles::Phase::kOver);
      size_t points = 0;
      for (const auto& block : blocks) points += block.points.size();
      EXPECT_LE(points, 4u);
      EXPECT_EQ(files.families(), 0u);
      ASSERT_TRUE(RemoveFile(Path("1-00000001.0.tm")).ok());
    }
  }
}

TEST_F(MetricFilesTest, NamesThatAreNotChunksAreLeftAlone) {
  for (const char* name :
       {"", "x", ".tm", "1.0.tm", "1-0000000.0.tm", "1-0000000G.0.tm", "1-00000001.tm",
        "1-00000001..tm", "1-00000001.-1.tm", "1-00000001.01.tm", "-00000001.0.tm",
        "1-00000001.99999999999.tm", "1-00000001.0.tm.new", "+1-00000001.0.tm"}) {
    EXPECT_FALSE(ParseMetricChunkName(name).has_value()) << name;
  }
  auto name = ParseMetricChunkName("71-00c0ffee.3.tm");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->family, "71-00c0ffee");
  EXPECT_EQ(name->number, 3u);
}

// Shim and reader together: threads and forked children of a real Python log while we read.
TEST_F(MetricFilesTest, RealShimLosesNothingWhileBeingRead) {
  auto python = FindProgram("python3", getenv("PATH") ? getenv("PATH") : "/usr/bin");
  if (!python) GTEST_SKIP() << "no python3 on PATH";
  std::string shim = SourcePath("python");
  ASSERT_TRUE(IsDirectory(shim)) << shim;
  const std::string script = R"(
import os, sys, threading, tenon
def work(k):
    for i in range(20000): tenon.log('t%d' % k, float(i))
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
for t in threads: t.join()
if not tenon.log('waited', 1.0).wait(60): sys.exit(3)
pid = os.fork()
if pid == 0:
    for i in range(5000): tenon.log('child', float(i))
    os._exit(0 if tenon.wait(60) else 4)
sys.exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
)";
  MetricFiles files = Open();
  SpawnOptions options;
  options.argv = {*python, "-c", script};
  options.env = CurrentEnvironment();
  options.env["TENON_METRICS_DIR"] = folder_;
  options.env["PYTHONPATH"] = shim;
  options.env["PYTHONDONTWRITEBYTECODE"] = "1";
  auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok());
  std::vector<run::MetricBlock> blocks;
  int status = 0;
  auto take = [&](MetricFiles::Phase phase) {
    auto round = Poll(files, phase);
    EXPECT_EQ(round.notices, std::vector<std::string>{});
    for (auto& block : round.blocks) blocks.push_back(std::move(block));
    files.Commit();
    if (round.sync_wanted) files.MarkSynced();
    return round.more;
  };
  while (waitpid(*pid, &status, WNOHANG) == 0) {
    if (take(MetricFiles::Phase::kRunning)) continue;
    pollfd item{files.wake_fd(), POLLIN, 0};
    poll(&item, 1, 5);
    files.DrainWake();
  }
  while (take(MetricFiles::Phase::kOver)) {
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  for (std::string series : {"t0", "t1", "t2", "t3", "child"}) {
    auto numbers = Numbers(blocks, series);
    ASSERT_EQ(numbers.size(), series == "child" ? 5000u : 20000u) << series;
    for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<double>(i));
  }
  EXPECT_EQ(files.families(), 0u);
}

}  // namespace
}  // namespace tenon::runner
