// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <atomic>

#include "base/file.h"
#include "base/poll_loop.h"
#include "base/text.h"
#include "journal/format.h"
#include "journal/reader.h"
#include "runner/supervise/capture.h"
#include "runner/supervise/syncer.h"

namespace tenon::runner {
namespace {

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() {
    char name[] = "/tmp/tenon-recorder-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    folder_ = name;
  }
  ~RecorderTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  Recorder Make(std::vector<std::string> secrets = {}) {
    auto writer = journal::Writer::Open({folder_ + "/host.tj", NewUuid(), "host", nullptr, false});
    TENON_CHECK(writer.ok());
    return Recorder(std::move(*writer), std::move(secrets), folder_ + "/runner.log", clock_);
  }
  struct Read {
    std::string out;
    std::vector<run::Gap> gaps;
    std::vector<run::MetricPoint> points;
    std::vector<std::string> order;  // "output", "gap", "end", "metrics"
  };
  Read ReadAll() {
    Read read;
    auto reader = journal::Reader::Open(folder_ + "/host.tj");
    TENON_CHECK(reader.ok());
    for (;;) {
      auto record = reader->Next();
      TENON_CHECK(record.ok());
      if (!*record) return read;
      auto event = run::DecodeEvent((*record)->type, (*record)->payload);
      TENON_CHECK(event.ok() && event->has_value());
      if (auto* output = std::get_if<run::Output>(&**event)) {
        read.out += output->bytes;
        read.order.push_back("output");
      }
      if (auto* gap = std::get_if<run::Gap>(&**event)) {
        read.gaps.push_back(*gap);
        read.order.push_back("gap");
      }
      if (auto* metrics = std::get_if<run::Metrics>(&**event)) {
        for (auto& block : metrics->blocks) {
          read.points.insert(read.points.end(), block.points.begin(), block.points.end());
        }
        read.order.push_back("metrics");
      }
      if (std::get_if<run::End>(&**event)) read.order.push_back("end");
    }
  }

  std::string folder_;
  FakeClock clock_;
};

// As long as an object of this class lives, no file can grow beyond `size`.
class FullDisk {
 public:
  explicit FullDisk(uint64_t size) {
    ::signal(SIGXFSZ, SIG_IGN);
    TENON_CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limit = before_;
    limit.rlim_cur = size;
    TENON_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(RecorderTest, WhatHasNoSpaceIsCountedAndTheGapStandsBeforeWhatFollows) {
  Recorder recorder = Make();
  recorder.AppendOutput(run::Stream::kStdout, "first");
  {
    FullDisk full(recorder.writer().size() + 10);
    recorder.AppendOutput(run::Stream::kStdout, std::string(1000, 'x'));
    recorder.AppendOutput(run::Stream::kStderr, std::string(10, 'y'));
    EXPECT_FALSE(recorder.Append(run::Notice{run::Level::kInfo, "lost", ""}));
    clock_.Advance(1'000'000);
    recorder.AppendOutput(run::Stream::kStdout, std::string(500, 'x'));
  }
  // There is space again, but the recorder does not try yet.
  recorder.AppendOutput(run::Stream::kStdout, std::string(7, 'x'));
  clock_.Advance(200'000);
  recorder.AppendOutput(run::Stream::kStdout, "last");
  Read read = ReadAll();
  EXPECT_EQ(read.out, "firstlast");
  ASSERT_EQ(read.gaps.size(), 1u);
  EXPECT_EQ(read.gaps[0].stdout_bytes, 1507u);
  EXPECT_EQ(read.gaps[0].stderr_bytes, 10u);
  EXPECT_EQ(read.gaps[0].records, 1u);
  EXPECT_FALSE(read.gaps[0].reason.empty());
  EXPECT_EQ(read.order, (std::vector<std::string>{"output", "gap", "output"}));
}

TEST_F(RecorderTest, AGapThatIsDueComesBeforeTheEnd) {
  Recorder recorder = Make();
  {
    FullDisk full(recorder.writer().size() + 10);
    recorder.AppendOutput(run::Stream::kStdout, std::string(1000, 'x'));
  }
  EXPECT_TRUE(recorder.AppendLast(run::End{}));
  EXPECT_EQ(ReadAll().order, (std::vector<std::string>{"gap", "end"}));
}

TEST_F(RecorderTest, MetricsThatWereNotWrittenAreStillTheCallers) {
  Recorder recorder = Make();
  std::vector<run::MetricBlock> blocks = {{"s", "", 0, {{1, 2, std::string(5000, 'q')}}}};
  {
    FullDisk full(recorder.writer().size() + 10);
    EXPECT_FALSE(recorder.AppendMetrics(blocks));
  }
  clock_.Advance(1'000'000);
  EXPECT_TRUE(recorder.AppendMetrics(blocks));
  EXPECT_EQ(ReadAll().points.size(), 1u);
  EXPECT_TRUE(ReadAll().gaps.empty());  // nothing was lost
}

TEST_F(RecorderTest, MetricsLargerThanARecordAreSplitInOrder) {
  Recorder recorder = Make();
  run::MetricBlock block{"s", "f.0", 4096, {}};
  for (int i = 0; i < 9; ++i) {
    run::MetricPoint point;
    point.step = point.time_us = i;
    point.value = RandomHex(600'000);
    block.points.push_back(std::move(point));
  }
  run::MetricBlock other{"t", "f.0", 5000, {{100, 0, 1.0}}};
  ASSERT_TRUE(recorder.AppendMetrics({block, other}));
  Read read = ReadAll();
  ASSERT_EQ(read.points.size(), 10u);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(read.points[i].step, i);
    EXPECT_EQ(read.points[i].value, block.points[i].value);
  }
  EXPECT_GT(read.order.size(), 1u);
}

TEST_F(RecorderTest, OnePointLargerThanARecordIsCutNotLost) {
  Recorder recorder = Make();
  ASSERT_TRUE(recorder.AppendMetrics({{"s", "", 0, {{0, 0, RandomHex(journal::kMaxPayload)}}}}));
  EXPECT_EQ(ReadAll().points.size(), 1u);
}

TEST_F(RecorderTest, SecretsAreMaskedInEveryKindOfWords) {
  Recorder recorder = Make({"s3cret-word"});
  const std::string s = "s3cret-word";
  recorder.Append(run::Notice{run::Level::kInfo, "n " + s, "h " + s});
  recorder.Append(run::Step{"unpack", 0, s});
  recorder.AppendState(run::State::kCancelRequested, s);
  recorder.Append(run::ScriptStarted{{}, {"python3", s}});
  recorder.Append(run::Artifacts{{{"outputs/" + s, 1, "", 0644}}, ""});
  recorder.AppendMetrics({{"m " + s, "", 0, {{0, 0, "v " + s}}}});
  recorder.Append(run::Parameters{{{"p " + s, s}}});
  recorder.Append(run::Samples{{{s, {1}, {{"c " + s, {2}}}}}});
  recorder.AppendOutput(run::Stream::kStdout, "a" + s.substr(0, 4));
  recorder.AppendOutput(run::Stream::kStdout, s.substr(4) + "b" + s.substr(0, 3));
  recorder.FlushOutput(run::Stream::kStdout);
  run::End end;
  end.reason = s;
  recorder.AppendLast(end);
  recorder.Log("log " + s);
  EXPECT_EQ(ReadAll().out, "a***bs3c");
  for (const char* name : {"/host.tj", "/runner.log"}) {
    auto bytes = ReadFile(folder_ + name);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->find(s), std::string::npos) << name;
    EXPECT_NE(bytes->find("***"), std::string::npos) << name;
  }
}

TEST_F(RecorderTest, WhoeverAskedForASyncIsTold) {
  Recorder recorder = Make();
  std::atomic<int> told = 0;
  {
    Syncer syncer(recorder.writer());
    syncer.MarkDirty();
    for (int i = 0; i < 10; ++i) {
      syncer.SyncNow([&](const Status& status) {
        EXPECT_TRUE(status.ok());
        ++told;
      });
    }
  }
  EXPECT_EQ(told, 10);
}

TEST(Capture, TakesWhatIsThereWithoutWaitingForTheEnd) {
  PollLoop loop;
  std::string out, err;
  auto capture = Capture::Open(loop, [&](run::Stream stream, std::string_view bytes) {
    (stream == run::Stream::kStdout ? out : err) += bytes;
  });
  ASSERT_TRUE(capture.ok());
  ASSERT_TRUE(WriteAll((*capture)->stdout_fd(), "one").ok());
  ASSERT_TRUE(WriteAll((*capture)->stderr_fd(), "two").ok());
  (*capture)->Drain();  // the child's ends are still open
  EXPECT_EQ(out, "one");
  EXPECT_EQ(err, "two");
  ASSERT_TRUE(WriteAll((*capture)->stdout_fd(), "three").ok());
  (*capture)->CloseChildEnds();
  for (int i = 0; i < 10; ++i) loop.RunOnce(0);
  (*capture)->Drain();
  EXPECT_EQ(out, "onethree");
}

}  // namespace
}  // namespace tenon::runner
