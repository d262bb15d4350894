// SPDX-License-Identifier: Apache-2.0
// Runs on a machine of a kind that the engine does not know (test_box.h).
#include "engine/host/machine.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/temp_folder.h"
#include "engine/host/test_box.h"
#include "engine/run/follow.h"
#include "engine/run/runs.h"
#include "engine/run/submit.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "launch/test_batch.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

constexpr const char* kId = "a-box-in-the-yard";

class Hearing : public Reporter {
 public:
  void OnOutput(run::Stream, std::string_view bytes, int64_t) override {
    output += bytes;
    of[std::string(origin().segment)] += bytes;
  }
  void OnNotice(const run::Notice& notice) override {
    notices.emplace_back(origin().segment, notice.text);
  }
  void OnEnd(const run::End& e) override { end = e; }
  std::string output;
  std::map<std::string, std::string> of;  // output by segment
  std::vector<std::pair<std::string, std::string>> notices;
  std::optional<run::End> end;
};

class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    context_.host = &host_;
    context_.launch = &here_;
    context_.services = &services_here_;
    context_.clock = &clock_;
    context_.version = "test";
    auto box = std::make_unique<Box>(
        context_, Machine::Parts{&host_, &launch_, &services_, run::Home(temp_ / "box")});
    box_ = box.get();
    context_.machines[kId] = std::move(box);
    EXPECT_TRUE(MakeDirs(project_).ok());
    EXPECT_TRUE(
        WriteFileAtomically(JoinPath(project_, "main.py"), "print(1)\n", 0644, Durability::kProcess)
            .ok());
  }

  Status WriteThere(const run::RunSpec& spec, const std::vector<run::Event>& events,
                    const std::string& segment = "host") {
    const run::RunFolder folder(box_->home(), spec.id);
    TENON_TRY_VOID(MakeDirs(folder.path()));
    TENON_TRY(auto writer,
              journal::Writer::Open({folder.segment(segment), spec.key, segment, &clock_, false}));
    for (const run::Event& event : events) TENON_TRY_VOID(writer.Append(event));
    return {};
  }
  static run::End EndAs(run::State state) {
    run::End end;
    end.state = state;
    end.exit_code = state == run::State::kCompleted ? 0 : 1;
    return end;
  }
  std::string MustSubmit() {
    SubmitRequest request;
    request.folder.root = project_;
    request.spec.project = "proj";
    request.spec.project_id = "project-id";
    request.spec.script = "main.py";
    request.spec.target = "box";
    request.spec.target_type = "box";
    request.spec.host = kId;
    auto id = Submit(context_, std::move(request), hearing_);
    EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
    return id.ok() ? *id : "";
  }

  TempFolder temp_;
  std::string project_ = temp_ / "proj";
  FakeClock clock_;
  transport::LocalHost host_;
  launch::FakeLaunch here_, launch_;
  launch::FakeServices services_here_{here_}, services_{launch_};
  Context context_{run::Home(temp_ / "home")};
  Box* box_ = nullptr;
  Hearing hearing_;
};

TEST_F(MachineTest, ARunGoesThereAndIsFollowedToItsEnd) {
  launch_.on_start = [this](const launch::StartRequest& request) {
    return WriteThere(request.spec,
                      {run::RunnerStarted{}, run::Output{run::Stream::kStdout, "hi\n"},
                       EndAs(run::State::kCompleted)});
  };
  const std::string id = MustSubmit();
  EXPECT_EQ(box_->opened, 1);
  EXPECT_TRUE(here_.starts.empty());
  ASSERT_EQ(launch_.starts.size(), 1u);
  const auto followed = Follow(context_, id, {}, hearing_);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_EQ(hearing_.output, "hi\n");
  ASSERT_TRUE(hearing_.end.has_value());
  EXPECT_EQ(hearing_.end->state, run::State::kCompleted);
  const auto run = journal::FoldRunFolder(run::RunFolder(context_.home, id).path());
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(WasHandedOver(*run));
}

TEST_F(MachineTest, SegmentsOfAnyNumberAreFollowedAndEachIsToldByItsName) {
  launch_.on_start = [this](const launch::StartRequest& request) -> Status {
    for (int rank = 0; rank < 3; ++rank) {
      const std::string name = "rank-" + std::to_string(rank);
      TENON_TRY_VOID(
          WriteThere(request.spec, {run::Output{run::Stream::kStdout, name + "\n"}}, name));
    }
    TENON_TRY_VOID(
        WriteThere(request.spec, {run::Notice{run::Level::kInfo, "hot", ""}}, "sampler-gpu"));
    run::End end = EndAs(run::State::kCompleted);
    end.other_segments = 4;
    return WriteThere(request.spec, {run::RunnerStarted{}, std::move(end)});
  };
  const std::string id = MustSubmit();
  const auto followed = Follow(context_, id, {}, hearing_);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_EQ(hearing_.of,
            (std::map<std::string, std::string>{
                {"rank-0", "rank-0\n"}, {"rank-1", "rank-1\n"}, {"rank-2", "rank-2\n"}}));
  EXPECT_EQ(std::ranges::count(hearing_.notices,
                               std::pair<std::string, std::string>("sampler-gpu", "hot")),
            1);
  ASSERT_TRUE(hearing_.end.has_value());
  EXPECT_TRUE(hearing_.origin().segment.empty());
  // Following again from the reached place reports nothing twice, from any segment.
  launch_.SetState(id, run::State::kCompleted);
  Hearing again;
  FollowOptions options;
  options.after = followed->place;
  EXPECT_EQ(options.after.size(), 5u);
  ASSERT_TRUE(Follow(context_, id, options, again).ok());
  EXPECT_EQ(again.output, "");
}

TEST_F(MachineTest, ASegmentThatAppearsLateIsFollowedToo) {
  launch_.on_start = [this](const launch::StartRequest& request) {
    return WriteThere(request.spec, {run::RunnerStarted{}});
  };
  const std::string id = MustSubmit();
  const run::RunSpec& spec = launch_.starts[0].spec;
  ASSERT_TRUE(WriteThere(spec, {run::Output{run::Stream::kStdout, "first\n"}}, "rank-0").ok());
  FollowOptions now;
  now.wait = false;
  auto followed = Follow(context_, id, now, hearing_);
  ASSERT_TRUE(followed.ok());
  EXPECT_EQ(hearing_.of["rank-0"], "first\n");
  ASSERT_TRUE(WriteThere(spec, {run::Output{run::Stream::kStdout, "late\n"}}, "rank-7").ok());
  ASSERT_TRUE(WriteThere(spec, {EndAs(run::State::kCompleted)}).ok());
  FollowOptions on;
  on.after = followed->place;
  ASSERT_TRUE(Follow(context_, id, on, hearing_).ok());
  EXPECT_EQ(hearing_.of["rank-7"], "late\n");
  ASSERT_TRUE(hearing_.end.has_value());
}

TEST_F(MachineTest, ItIsAskedToCancelAndLookedAtAfterwards) {
  launch_.on_start = [this](const launch::StartRequest& request) {
    return WriteThere(request.spec, {run::RunnerStarted{}});
  };
  const std::string id = MustSubmit();
  CancelOptions options;
  options.wait = false;
  ASSERT_TRUE(Cancel(context_, id, options).ok());
  EXPECT_TRUE(here_.cancels.empty());
  ASSERT_EQ(launch_.cancels.size(), 1u);
  EXPECT_EQ(launch_.cancels[0].run_id, id);
  ASSERT_TRUE(WriteThere(launch_.starts[0].spec, {EndAs(run::State::kCanceled)}).ok());
  ASSERT_TRUE(RefreshRun(context_, id, Look::kThere).ok());
  EXPECT_EQ(GetRun(context_, id)->state, run::State::kCanceled);
}

// A box whose runs wait in a batch system. The batch system holds no locks and has its own way to
// find a run.
class BatchTest : public MachineTest {
 protected:
  BatchTest() {
    auto box = std::make_unique<Box>(
        context_, Machine::Parts{&host_, &batch_, &services_, run::Home(temp_ / "box")});
    box_ = box.get();
    context_.machines[kId] = std::move(box);
    batch_.on_begin = [this](const run::RunSpec& spec) {
      return WriteThere(spec, {run::RunnerStarted{}, run::Output{run::Stream::kStdout, "hi\n"}});
    };
    batch_.on_end = [this](const run::RunSpec& spec, run::State state) {
      return WriteThere(spec, {EndAs(state)});
    };
    id_ = MustSubmit();
  }
  Result<Followed> FollowIt() { return Follow(context_, id_, {}, hearing_); }

  launch::TestBatch batch_;
  std::string id_;
};

TEST_F(BatchTest, TheHandleIsKeptInTheJournalAndTheIndex) {
  EXPECT_EQ(HandleOf(context_, id_), (run::LaunchHandle{"test-batch", 1, "job 17"}));
  const auto run = GetRun(context_, id_);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->handle, HandleOf(context_, id_));
}

TEST_F(BatchTest, ARunThatWaitsIsFollowedFromItsTurnToItsEnd) {
  batch_.on_asked = [this](const std::string& id) {
    if (batch_.asked == 2) {
      EXPECT_TRUE(batch_.Begin(id).ok());
    }
    if (batch_.asked == 4) {
      EXPECT_TRUE(batch_.Finish(id).ok());
    }
  };
  const auto followed = FollowIt();
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  ASSERT_TRUE(followed->end.has_value());
  EXPECT_EQ(followed->end->state, run::State::kCompleted);
  EXPECT_EQ(hearing_.output, "hi\n");
  EXPECT_EQ(std::ranges::count(hearing_.notices,
                               std::pair<std::string, std::string>("", "waiting: its turn")),
            1);
}

TEST_F(BatchTest, ARunThatWaitsIsNotTakenForOneThatNeverStarted) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(RefreshRun(context_, id_, Look::kThere).ok());
    EXPECT_FALSE(run::IsFinal(GetRun(context_, id_)->state));
  }
  FollowOptions now;
  now.wait = false;
  const auto followed = Follow(context_, id_, now, hearing_);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_FALSE(followed->end.has_value());
}

TEST_F(BatchTest, ARunThatVanishesWhileItRunsHasFailed) {
  batch_.on_asked = [this](const std::string& id) {
    if (batch_.asked == 1) {
      EXPECT_TRUE(batch_.Begin(id).ok());
    }
    if (batch_.asked == 3) batch_.Vanish(id);
  };
  const auto followed = FollowIt();
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  ASSERT_TRUE(followed->end.has_value());
  EXPECT_EQ(followed->end->state, run::State::kFailed);
  EXPECT_EQ(hearing_.output, "hi\n");
}

TEST_F(BatchTest, ARunThatWaitsIsCanceled) {
  const auto run = Cancel(context_, id_, {});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->state, run::State::kCanceled);
}

TEST_F(MachineTest, ARunThatItHasLostIsSaidToBeLost) {
  launch_.on_start = [this](const launch::StartRequest& request) {
    return WriteThere(request.spec, {run::RunnerStarted{}});
  };
  const std::string id = MustSubmit();
  ASSERT_TRUE(RemoveTree(run::RunFolder(box_->home(), id).path()).ok());
  const auto looked = RefreshRun(context_, id, Look::kThere);
  ASSERT_FALSE(looked.ok());
  EXPECT_EQ(looked.error().kind, ErrorKind::kNotFound);
}

// One loop follows all runs, as in a program that has other work, too.
TEST_F(MachineTest, SeveralRunsAreFollowedInOneLoop) {
  constexpr size_t kRuns = 3;
  std::vector<run::RunSpec> specs;
  launch_.on_start = [&](const launch::StartRequest& request) {
    specs.push_back(request.spec);
    return WriteThere(request.spec, {run::RunnerStarted{}});
  };
  std::vector<Hearing> hearing(kRuns);
  std::vector<Following> following;
  for (size_t i = 0; i < kRuns; ++i) {
    auto begun = Following::Begin(context_, MustSubmit(), {}, hearing[i]);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    following.push_back(std::move(*begun));
    clock_.Advance(1000);
  }
  std::vector<bool> over(kRuns, false);
  size_t written = 0;
  for (int turn = 0; turn < 1'000 && std::ranges::count(over, true) < int{kRuns}; ++turn) {
    std::vector<pollfd> wait;
    int64_t due_us = INT64_MAX;
    for (size_t i = 0; i < kRuns; ++i) {
      const auto more = following[i].Step();
      ASSERT_TRUE(more.ok()) << more.error().message;
      over[i] = !*more;
      wait.push_back({following[i].fd(), POLLIN, 0});
      if (!over[i]) due_us = std::min(due_us, following[i].due_us());
    }
    // The runs end one by one, the last one first.
    if (turn % 10 == 9 && written < kRuns) {
      const run::RunSpec& spec = specs[kRuns - 1 - written++];
      ASSERT_TRUE(WriteThere(spec, {run::Output{run::Stream::kStdout, "of " + spec.id},
                                    EndAs(run::State::kCompleted)})
                      .ok());
    }
    const int64_t left_us = std::max<int64_t>(due_us - SystemClock().MonotonicUs(), 0);
    ::poll(wait.data(), wait.size(), static_cast<int>(std::min<int64_t>(left_us, 250'000) / 1000));
  }
  for (size_t i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(over[i]) << i;
    EXPECT_EQ(hearing[i].output, "of " + specs[i].id);
    const Followed reached = following[i].reached();
    ASSERT_TRUE(reached.end.has_value());
    EXPECT_EQ(reached.end->state, run::State::kCompleted);
    EXPECT_EQ(reached.place.at("host").record, 3u);
  }
}

}  // namespace
}  // namespace tenon::engine
