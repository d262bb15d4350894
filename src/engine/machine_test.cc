// SPDX-License-Identifier: Apache-2.0
// A machine of a kind that the engine has never heard of: nothing but the interface lets runs go
// there. Its home is another folder on this disk, from which the journals are copied whenever
// somebody looks.
#include "engine/machine.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/file.h"
#include "base/temp_folder.h"
#include "engine/follow.h"
#include "engine/own_door.h"
#include "engine/own_files.h"
#include "engine/own_runs.h"
#include "engine/runs.h"
#include "engine/submit.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

constexpr const char* kId = "a-box-in-the-yard";

class CopyingFeed : public RunFeed {
 public:
  CopyingFeed(const run::RunFolder& here, const run::RunFolder& there)
      : here_(here.host_segment()), there_(there.host_segment()) {}

  Result<Heard> Wait(int64_t) override {
    if (!Exists(there_)) return Heard::kUnknown;
    TENON_TRY(const bool locked, IsLockedByOther(there_));
    TENON_TRY(const std::string all, ReadFile(there_));
    const std::string had = ReadFile(here_).value_or("");
    waited_ = true;
    if (all == had) return locked ? Heard::kNothing : Heard::kEnded;
    TENON_TRY_VOID(WriteFileAtomically(here_, all, 0600, Durability::kProcess));
    return Heard::kMore;
  }
  Result<Heard> CatchUp() override {
    Heard heard = Heard::kMore;
    while (heard == Heard::kMore) {
      TENON_TRY(heard, Wait(0));
    }
    return heard == Heard::kNothing ? Heard::kMore : heard;
  }
  bool CaughtUp() const override { return waited_; }
  Result<bool> IsWhole() override { return true; }
  Result<bool> TakeRest() override { return true; }
  Status Stop() override { return {}; }
  bool MayMend(const Error&) const override { return false; }
  std::optional<Stopped> stopped() override { return std::nullopt; }
  int64_t SilentUs() const override { return 0; }

 private:
  std::string here_, there_;
  bool waited_ = false;
};

class Box : public Machine {
 public:
  Box(Context& context, Parts parts)
      : Machine(context.home, {}), runs_(context, *this), files_(context) {
    Use(std::move(parts));
  }
  void Open() override { ++opened; }
  Handover Start(launch::StartRequest request, Reporter&) override {
    return {launch().Start(request), false, /*to_be_noted=*/true};
  }
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return door_; }
  Result<json::Object> Probe() override { return services().Probe(); }
  bool MayHave(const std::string&) const override { return true; }

  int opened = 0;

 private:
  class Runs : public OwnRuns {
   public:
    Runs(Context& context, Machine& box) : OwnRuns(context), context_(context), box_(box) {}
    std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink) override {
      return std::make_unique<CopyingFeed>(run::RunFolder(context_.home, run_id),
                                           run::RunFolder(box_.home(), run_id));
    }

   private:
    Context& context_;
    Machine& box_;
  };

  Runs runs_;
  OwnFiles files_;
  OwnDoor door_;
};

class Hearing : public Reporter {
 public:
  void OnOutput(run::Stream, std::string_view bytes, int64_t) override { output += bytes; }
  void OnEnd(const run::End& e) override { end = e; }
  std::string output;
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

  Status WriteThere(const run::RunSpec& spec, const std::vector<run::Event>& events) {
    const run::RunFolder folder(box_->home(), spec.id);
    TENON_TRY_VOID(MakeDirs(folder.path()));
    TENON_TRY(auto writer,
              journal::Writer::Open({folder.host_segment(), spec.key, "host", &clock_, false}));
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

}  // namespace
}  // namespace tenon::engine
