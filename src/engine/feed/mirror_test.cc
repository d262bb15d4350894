// SPDX-License-Identifier: Apache-2.0
#include "engine/feed/mirror.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <random>
#include <utility>

#include "base/compress.h"
#include "base/hash.h"
#include "base/temp_folder.h"
#include "engine/host/fake_machine.h"
#include "journal/test_segment.h"
#include "journal/writer.h"
#include "run/layout.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

// A far machine made of data: its files are strings, and its link drops after a number of bytes.
class FakeFar : public transport::LocalHost, public transport::FrameLink {
 public:
  transport::FrameLink* frames() override { return this; }
  transport::LinkState state() const override { return {}; }

  Status Send(const json::Object& head, std::string_view) override {
    const std::string op = json::GetString(head, "op");
    const int64_t id = json::GetInt(head, "id");
    if (op == "segments") {
      queue_.push_back(
          {{{"ok", true}, {"count", Segments(json::GetString(head, "run_folder")).size()}}, ""});
    } else if (op == "follow") {
      Begin(id, head);
    } else if (op == "unfollow") {
      streams_.erase(id);
      ++ended;
    } else {
      queue_.push_back({{{"ok", true}}, ""});
    }
    return {};
  }

  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) override {
    if (!files.contains(path)) return NotFound(path);
    const std::string& bytes = files[path];
    return offset >= bytes.size() ? std::string() : bytes.substr(offset, max);
  }
  Result<bool> IsLocked(const std::string& path) override {
    if (!files.contains(path)) return NotFound(path);
    return locked;
  }

  std::map<std::string, std::string> files;
  bool locked = true;
  size_t drop_after = SIZE_MAX;  // bytes
  size_t skip_numbers = 0;       // added to the numbers of the segments that it reports
  int ended = 0;                 // streams

 protected:
  // Sends a piece of each stream in turn.
  Result<std::optional<Frame>> Take(int64_t) override {
    if (!queue_.empty()) {
      Frame frame = std::move(queue_.front());
      queue_.pop_front();
      return std::optional<Frame>(std::move(frame));
    }
    for (size_t i = 0; i < streams_.size(); ++i) {
      auto next = streams_.upper_bound(last_);
      if (next == streams_.end()) next = streams_.begin();
      last_ = next->first;
      TENON_TRY(auto frame, NextOfStream(next->second));
      if (!frame) continue;
      frame->head["id"] = last_;
      return frame;
    }
    return std::optional<Frame>();
  }
  void HangUp() override { streams_.clear(); }

 private:
  struct Stream {
    std::vector<std::pair<std::string, uint64_t>> files;
    std::string run_folder;
    bool told_lock = false;
  };

  void Begin(int64_t id, const json::Object& head) {
    Stream& stream = streams_[id];
    stream.run_folder = json::GetString(head, "run_folder");
    for (const json::Value& value : *json::GetArray(head, "files")) {
      const json::Object& file = value.get_object();
      std::string path = json::GetString(file, "path");
      const auto offset = static_cast<uint64_t>(json::GetInt(file, "offset"));
      const auto checked = static_cast<uint64_t>(json::GetInt(file, "checked"));
      if (checked > 0 && files.contains(path)) {
        const std::string before = files[path].substr(0, offset);
        if (before.size() < offset ||
            Crc32c(before.substr(offset - checked)) != json::GetInt(file, "crc")) {
          queue_.push_back({{{"id", id}, {"file", stream.files.size()}, {"differs", true}}, ""});
          path = "(told that it differs)";
        }
      }
      stream.files.emplace_back(path, offset);
    }
  }

  Result<std::optional<Frame>> NextOfStream(Stream& stream) {
    for (const std::string& name : Segments(stream.run_folder)) {
      const std::string path = run::RunFolder(stream.run_folder).segment(name);
      const auto known = [&](const auto& file) { return file.first == path; };
      if (std::ranges::any_of(stream.files, known)) continue;
      Frame told{{{"file", stream.files.size() + skip_numbers}, {"segment", name}}, ""};
      stream.files.emplace_back(path, 0);
      return std::optional<Frame>(std::move(told));
    }
    for (size_t i = 0; i < stream.files.size(); ++i) {
      auto& [path, offset] = stream.files[i];
      const auto file = files.find(path);
      if (file == files.end() || offset >= file->second.size()) continue;
      const std::string& bytes = file->second;
      const size_t count = std::min<size_t>(bytes.size() - offset, 1 + random_() % 300);
      if (count >= drop_after) {
        drop_after = SIZE_MAX;
        streams_.clear();
        return Unavailable("the link was cut");
      }
      if (drop_after != SIZE_MAX) drop_after -= count;
      Frame frame{{{"file", i}, {"offset", offset}}, bytes.substr(offset, count)};
      if (random_() % 2 == 0) {
        frame.head["zstd"] = true;
        frame.body = Compress(frame.body);
      }
      offset += count;
      return std::optional<Frame>(std::move(frame));
    }
    if (std::exchange(stream.told_lock, true)) return std::optional<Frame>();
    return std::optional<Frame>(Frame{{{"locked", locked}}, ""});
  }

  // The machine may give segments any name.
  std::vector<std::string> Segments(const std::string& run_folder) const {
    const std::string folder = run_folder + "/";
    std::vector<std::string> names;
    for (const auto& [path, bytes] : files) {
      if (folder.size() > 1 && path.starts_with(folder) && path.ends_with(".tj")) {
        names.push_back(path.substr(folder.size(), path.size() - folder.size() - 3));
      }
    }
    return names;
  }

  std::map<int64_t, Stream> streams_;
  int64_t last_ = 0;  // the stream that was served last
  std::deque<Frame> queue_;
  std::minstd_rand random_{7};
};

class MirrorTest : public testing::Test {
 protected:
  MirrorTest() {
    context_.host = &here_;
    context_.clock = &SystemClock();
    TENON_CHECK(MakeDirs(near_.path()).ok());
    original_ = WriteSegment(200);
    far_.files[far_folder_.host_segment()] = original_;
  }

  std::string WriteSegment(int records) { return WriteSegment(records, "host"); }
  std::string WriteSegment(int records, const std::string& name) {
    const std::string path = temp_ / (name + ".tj");
    auto writer = journal::Writer::Open({path, journal::kTestKey, name, &SystemClock(), false});
    TENON_CHECK(writer.ok());
    for (int i = 0; i < records; ++i) {
      TENON_CHECK(writer->Append(run::Output{run::Stream::kStdout, std::string(100, 'x')}).ok());
    }
    TENON_CHECK(writer->Sync().ok());
    return ReadFile(path).value();
  }
  std::string Copied() { return ReadFile(near_.host_segment()).value_or(""); }

  TempFolder temp_;
  Context context_{run::Home(temp_ / "home")};
  transport::LocalHost here_;
  run::RunFolder near_{context_.home, "p_1"};
  run::RunFolder far_folder_{run::Home("/far"), "p_1"};
  FakeFar far_;
  FakeMachine machine_{context_, {&far_, nullptr, nullptr, run::Home("/far")}};
  std::string original_;
};

TEST_F(MirrorTest, CutsAnywhereLoseNothingAndRepeatNothing) {
  std::minstd_rand random(3);
  Mirror mirror(context_, machine_, "p_1");
  int cuts = 0;
  for (int step = 0; step < 100'000 && Copied() != original_; ++step) {
    far_.drop_after = 1 + random() % 2000;
    auto heard = mirror.Wait(0);
    if (!heard.ok()) ++cuts;
    ASSERT_TRUE(original_.starts_with(Copied()));
  }
  EXPECT_EQ(Copied(), original_);
  EXPECT_GT(cuts, 5);
}

TEST_F(MirrorTest, ATornTailIsNotCopiedBecauseItMayBeWrittenAnew) {
  far_.files[far_folder_.host_segment()] = original_.substr(0, original_.size() - 7);
  far_.locked = false;
  Mirror mirror(context_, machine_, "p_1");
  ASSERT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
  const std::string before = Copied();
  EXPECT_LT(before.size(), original_.size() - 7);
  // The process that recovers the run cuts off the tail and writes other bytes.
  far_.files[far_folder_.host_segment()] = before + original_.substr(before.size());
  ASSERT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
  EXPECT_EQ(Copied(), original_);
}

TEST_F(MirrorTest, ACopyThatAKilledClientLeftHalfWrittenIsMended) {
  ASSERT_TRUE(WriteFileAtomically(near_.host_segment(), original_.substr(0, 5000), 0600,
                                  Durability::kProcess)
                  .ok());
  Mirror mirror(context_, machine_, "p_1");
  ASSERT_TRUE(mirror.CatchUp().ok());
  EXPECT_EQ(Copied(), original_);
}

TEST_F(MirrorTest, SegmentsThatAppearAreCopiedWhereverTheLinkIsCut) {
  std::minstd_rand random(5);
  const std::string first = WriteSegment(150, "rank-0"), second = WriteSegment(50, "sampler-gpu");
  const auto copied = [&](const char* name) { return ReadFile(near_.segment(name)).value_or(""); };
  std::map<std::string, size_t> told;  // records
  Mirror mirror(context_, machine_, "p_1",
                [&](std::string_view segment, journal::Cursor, auto records, journal::Cursor) {
                  told[std::string(segment)] += records.size();
                  return Status();
                });
  for (int step = 0; step < 100'000 && copied("sampler-gpu") != second; ++step) {
    if (step == 20) far_.files[far_folder_.segment("rank-0")] = first;
    if (step > 20 && copied("rank-0") == first) {
      far_.files[far_folder_.segment("sampler-gpu")] = second;
    }
    far_.drop_after = 1 + random() % 2000;
    (void)mirror.Wait(0).ok();
    ASSERT_TRUE(first.starts_with(copied("rank-0")));
    ASSERT_TRUE(second.starts_with(copied("sampler-gpu")));
  }
  far_.drop_after = SIZE_MAX;
  far_.locked = false;
  ASSERT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
  EXPECT_EQ(Copied(), original_);
  EXPECT_EQ(copied("rank-0"), first);
  EXPECT_EQ(copied("sampler-gpu"), second);
  EXPECT_EQ(told,
            (std::map<std::string, size_t>{{"host", 200}, {"rank-0", 150}, {"sampler-gpu", 50}}));
}

TEST_F(MirrorTest, ASegmentThatAMachineCannotHaveIsRefused) {
  for (const char* name : {"near-0123456789abcdef", "../other/host", "spec", "rank-01", ""}) {
    far_.files[far_folder_.segment(name)] = original_;
    Mirror mirror(context_, machine_, "p_1");
    const auto heard = mirror.CatchUp();
    ASSERT_FALSE(heard.ok()) << name;
    EXPECT_EQ(heard.error().kind, ErrorKind::kCorrupt) << name;
    far_.files.erase(far_folder_.segment(name));
  }
  // The host announces the segment under a wrong number.
  far_.files[far_folder_.segment("rank-0")] = original_;
  far_.skip_numbers = 1;
  Mirror mirror(context_, machine_, "p_1");
  EXPECT_FALSE(mirror.CatchUp().ok());
  EXPECT_EQ(ListDir(near_.path())->size(), 1u);
}

TEST_F(MirrorTest, WhoDoesNotCopyWaitsForSegmentsThatAreNotHereYet) {
  far_.locked = false;
  Mirror first(context_, machine_, "p_1");
  ASSERT_TRUE(first.CatchUp().ok());
  Mirror second(context_, machine_, "p_1");
  ASSERT_TRUE(*second.IsWhole());
  far_.files[far_folder_.segment("rank-0")] = WriteSegment(10, "rank-0");
  EXPECT_FALSE(*second.IsWhole());
  ASSERT_TRUE(first.CatchUp().ok());
  EXPECT_TRUE(*second.IsWhole());
}

TEST_F(MirrorTest, TwoFollowersOfOneHomeDoNotBothCopy) {
  Mirror first(context_, machine_, "p_1");
  ASSERT_TRUE(first.Wait(0).ok());
  Mirror second(context_, machine_, "p_1");
  const std::string before = Copied();
  ASSERT_TRUE(second.CatchUp().ok());
  EXPECT_EQ(Copied(), before);
}

TEST_F(MirrorTest, ARunTheHostHasNotIsToldFromOneThatEnded) {
  far_.locked = false;
  {
    Mirror mirror(context_, machine_, "p_1");
    Mirror::Heard heard = Mirror::Heard::kMore;
    while (heard == Mirror::Heard::kMore) heard = *mirror.Wait(0);
    EXPECT_EQ(heard, Mirror::Heard::kEnded);
  }
  far_.files.clear();
  ASSERT_TRUE(RemoveFile(near_.host_segment()).ok());
  Mirror mirror(context_, machine_, "p_1");
  EXPECT_EQ(*mirror.Wait(0), Mirror::Heard::kUnknown);
  EXPECT_EQ(*mirror.CatchUp(), Mirror::Heard::kUnknown);
}

TEST_F(MirrorTest, AnotherFileUnderTheNameDoesNotGetIntoTheCopy) {
  Mirror mirror(context_, machine_, "p_1");
  far_.drop_after = 4000;
  while (mirror.Wait(0).ok()) {
  }
  ASSERT_LT(Copied().size(), original_.size());
  // The file is a journal of another home under the same name.
  far_.files[far_folder_.host_segment()] = std::string(original_.size(), 'z');
  (void)mirror.CatchUp();
  EXPECT_TRUE(original_.starts_with(Copied()));
}

TEST_F(MirrorTest, WhoOnlyWatchesKnowsThatTheRestIsStillComing) {
  const auto other = FileLock::Take(near_.host_segment(), false);
  ASSERT_TRUE(other.ok());
  Mirror mirror(context_, machine_, "p_1");
  EXPECT_FALSE(*mirror.IsWhole());
  ASSERT_TRUE(
      WriteFileAtomically(near_.host_segment(), original_, 0600, Durability::kProcess).ok());
  EXPECT_TRUE(*mirror.IsWhole());
}

TEST_F(MirrorTest, AnEndThatTheHostLostInAPowerCutIsTakenOffHereToo) {
  far_.locked = false;
  {
    Mirror mirror(context_, machine_, "p_1");
    ASSERT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
    ASSERT_EQ(Copied(), original_);
  }
  // First the original is shorter than the copy, then longer: after the cut its writer went on.
  for (const int records : {1, 100}) {
    const std::string path = temp_ / "host.tj";
    ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(original_.size()) - 5000), 0);
    const std::string now = WriteSegment(records);
    far_.files[far_folder_.host_segment()] = now;
    int cuts = 0;
    Mirror mirror(context_, machine_, "p_1", nullptr, [&] { ++cuts; });
    EXPECT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
    EXPECT_EQ(Copied(), now) << records;
    EXPECT_EQ(cuts, 1) << records;
  }
}

TEST_F(MirrorTest, ACopyThatCannotBeWrittenLeavesNoAnswersBehind) {
  Mirror mirror(context_, machine_, "p_1");
  ASSERT_TRUE(mirror.Wait(0).ok());
  // A folder stands where the script's copy belongs.
  ASSERT_TRUE(MakeDirs(near_.script_segment()).ok());
  far_.files[far_folder_.script_segment()] = original_;
  bool failed = false;
  for (int i = 0; i < 1000 && !failed; ++i) failed = !mirror.Wait(0).ok();
  EXPECT_TRUE(failed);
  EXPECT_GT(far_.ended, 0) << "what is still to come is nobody's";
  // No frame of the ended stream is taken for the answer to another request.
  ASSERT_TRUE(far_.Send({{"op", "hello"}}, {}).ok());
  const auto answer = far_.Receive(1'000'000);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->head, (json::Object{{"ok", true}}));
}

TEST_F(MirrorTest, RunsOfOneMachineAreCopiedOverOneLinkAtOnce) {
  const run::RunFolder other_far(run::Home("/far"), "p_2"), other_near(context_.home, "p_2");
  ASSERT_TRUE(MakeDirs(other_near.path()).ok());
  const std::string other = WriteSegment(300, "rank-7");
  far_.files[other_far.host_segment()] = other;
  std::minstd_rand random(11);
  Mirror first(context_, machine_, "p_1"), second(context_, machine_, "p_2");
  const auto copied = [&] { return ReadFile(other_near.host_segment()).value_or(""); };
  for (int step = 0; step < 100'000 && (Copied() != original_ || copied() != other); ++step) {
    if (step % 50 == 0) far_.drop_after = 1 + random() % 5000;
    Mirror& next = random() % 3 == 0 ? second : first;
    (void)next.Wait(0).ok();
    // Another request goes over the link at the same time.
    ASSERT_TRUE(far_.Send({{"op", "hello"}}, {}).ok());
    const auto answer = far_.Receive(1'000'000);
    ASSERT_TRUE(!answer.ok() || !answer->head.contains("id"));
    ASSERT_TRUE(original_.starts_with(Copied()));
    ASSERT_TRUE(other.starts_with(copied()));
  }
  EXPECT_EQ(Copied(), original_);
  EXPECT_EQ(copied(), other);
}

TEST_F(MirrorTest, AStreamThatWasAskedForAheadIsTakenOverByItsRunAlone) {
  for (const char* run : {"p_2", "p_1"}) {
    Mirror::Ahead ahead{run, far_.NewStream()};
    const int64_t stream = ahead.stream;
    ASSERT_TRUE(far_.Send(Mirror::AheadRequest(machine_.home(), ahead), {}).ok());
    Mirror mirror(context_, machine_, "p_1", nullptr, nullptr, &ahead);
    ASSERT_TRUE(mirror.Wait(0).ok());
    EXPECT_EQ(ahead.run_id, run == std::string("p_1") ? "" : run);
    EXPECT_EQ(ahead.stream, run == std::string("p_1") ? 0 : stream);
    (void)RemoveFile(near_.host_segment()).ok();
  }
  // A copy that is already complete is not fetched again.
  ASSERT_TRUE(
      WriteFileAtomically(near_.host_segment(), original_, 0600, Durability::kProcess).ok());
  Mirror::Ahead ahead{"p_1", far_.NewStream()};
  ASSERT_TRUE(far_.Send(Mirror::AheadRequest(machine_.home(), ahead), {}).ok());
  Mirror mirror(context_, machine_, "p_1", nullptr, nullptr, &ahead);
  far_.locked = false;
  EXPECT_EQ(*mirror.CatchUp(), Mirror::Heard::kEnded);
  EXPECT_EQ(ahead.run_id, "");
  EXPECT_EQ(Copied(), original_);
}

}  // namespace
}  // namespace tenon::engine
