// SPDX-License-Identifier: Apache-2.0
#include "engine/run/adopt.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "engine/host/fake_machine.h"
#include "engine/run/runs.h"
#include "history/store.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

const std::string kHost(32, 'b');
constexpr const char* kId = "proj_1700000000000";

// A machine whose files are on this disk, with an agent that can follow them (op "follow").
class DiskFar : public transport::LocalHost, public transport::FrameLink {
 public:
  transport::FrameLink* frames() override { return this; }
  Status Send(const json::Object& head, std::string_view) override {
    if (json::GetString(head, "op") == "unfollow") return {};
    if (json::GetString(head, "op") != "follow") {
      answers_.push_back({{{"ok", true}}, ""});
      return {};
    }
    const int64_t id = json::GetInt(head, "id");
    const bool locked = IsLocked(json::GetString(head, "lock")).value_or(false);
    const json::Array& files = *json::GetArray(head, "files");
    for (size_t i = 0; i < files.size(); ++i) {
      const auto offset = static_cast<uint64_t>(json::GetInt(files[i].get_object(), "offset"));
      auto bytes = ReadFrom(json::GetString(files[i].get_object(), "path"), offset, 1 << 20);
      if (!bytes.ok()) continue;
      answers_.push_back({{{"id", id}, {"file", i}, {"offset", offset}}, std::move(*bytes)});
    }
    answers_.push_back({{{"id", id}, {"locked", locked}}, ""});
    return {};
  }

 protected:
  Result<std::optional<Frame>> Take(int64_t) override {
    if (answers_.empty()) return std::optional<Frame>();
    Frame frame = std::move(answers_.front());
    answers_.pop_front();
    return std::optional<Frame>(std::move(frame));
  }
  void HangUp() override { answers_.clear(); }

 private:
  std::deque<Frame> answers_;
};

// The far machine is another home on this disk.
class AdoptTest : public testing::Test {
 protected:
  AdoptTest() {
    context_.host = &host_;
    context_.launch = &launch_;
    context_.services = &services_;
    context_.clock = &clock_;
    context_.version = "test";
    clock_.Advance(1'800'000'000'000'000 - clock_.NowUs());
  }

  run::RunSpec Spec(const std::string& id, int64_t number) {
    run::RunSpec spec;
    spec.key = NewUuid();
    spec.id = id;
    spec.number = number;
    spec.project = "proj";
    spec.project_id = "their-project";
    spec.script = "main.py";
    spec.target = "far";
    spec.target_type = "remote";
    spec.host = "their-id-of-it";
    spec.tree = std::string(64, 'c');
    spec.git_diff_object = std::string(64, 'd');
    return spec;
  }
  // Makes a run that ended on the far machine.
  void RanThere(const run::RunSpec& spec) {
    const run::RunFolder folder(far_.home(), spec.id);
    ASSERT_TRUE(MakeDirs(folder.path()).ok());
    ASSERT_TRUE(WriteFileAtomically(folder.spec(),
                                    json::Print(json::Object{{"spec", spec.ToJson()}}), 0644,
                                    Durability::kProcess)
                    .ok());
    auto writer = journal::Writer::Open({folder.host_segment(), spec.key, "host", &clock_, false});
    ASSERT_TRUE(writer.ok());
    run::End end;
    end.state = run::State::kCompleted;
    end.exit_code = 0;
    ASSERT_TRUE(writer->Append(run::RunnerStarted{}).ok());
    ASSERT_TRUE(writer->Append(run::Output{run::Stream::kStdout, "hi\n"}).ok());
    ASSERT_TRUE(writer->Append(end).ok());
    launch_.SetState(spec.id, run::State::kCompleted);
    run::HostedRun hosted;
    hosted.run_id = spec.id;
    hosted.project = spec.project;
    services_.hosted.runs.push_back(hosted);
  }
  Result<Adopted> Take(const std::string& id) {
    return Adopt(context_, far_, {id, kHost, "our-project"}, silent_);
  }

  TempFolder temp_;
  FakeClock clock_;
  DiskFar host_;
  launch::FakeLaunch launch_;
  launch::FakeServices services_{launch_};
  Context context_{run::Home(temp_ / "home")};
  FakeMachine far_{context_, {&host_, &launch_, &services_, run::Home(temp_ / "far")}};
  Reporter silent_;
};

TEST_F(AdoptTest, TheRunIsKnownHereWithItsJournalAndItsTime) {
  RanThere(Spec(kId, 3));
  ASSERT_EQ(RunsToAdopt(context_, far_)->size(), 1u);
  const auto taken = Take(kId);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(*taken, Adopted::kNew);
  const auto run = journal::FoldRunFolder(run::RunFolder(context_.home, kId).path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->state, run::State::kCompleted);
  EXPECT_EQ(run->stdout_bytes, 3u);
  EXPECT_EQ(run->spec.host, kHost);
  EXPECT_EQ(run->spec.project_id, "our-project");
  EXPECT_EQ(run->spec.number, 3);
  EXPECT_EQ(run->spec.kept_tree, run->spec.tree);
  EXPECT_EQ(run->created_us, 1'700'000'000'000'000);
  auto store = context_.History();
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->Get(kId)->state, run::State::kCompleted);
}

TEST_F(AdoptTest, NothingTwice) {
  RanThere(Spec(kId, 1));
  ASSERT_TRUE(Take(kId).ok());
  EXPECT_EQ(*Take(kId), Adopted::kKnown);
  EXPECT_TRUE(RunsToAdopt(context_, far_)->empty());
  EXPECT_EQ(journal::FoldRunFolder(run::RunFolder(context_.home, kId).path())->stdout_bytes, 3u);
}

TEST_F(AdoptTest, ANumberThatIsTakenHereBecomesTheNextFreeOne) {
  RanThere(Spec(kId, 1));
  RanThere(Spec("proj_1700000000001", 1));
  ASSERT_TRUE(Take(kId).ok());
  ASSERT_TRUE(Take("proj_1700000000001").ok());
  EXPECT_EQ(*ResolveRun(context_, "our-project", "1"), kId);
  EXPECT_EQ(*ResolveRun(context_, "our-project", "2"), "proj_1700000000001");
}

TEST_F(AdoptTest, ANumberBeyondAllBoundsLeavesRoomForOurs) {
  RanThere(Spec(kId, INT64_MAX));
  RanThere(Spec("proj_1700000000001", -7));
  ASSERT_TRUE(Take(kId).ok());
  ASSERT_TRUE(Take("proj_1700000000001").ok());
  EXPECT_EQ(*ResolveRun(context_, "our-project", "1"), kId);
  EXPECT_EQ(*ResolveRun(context_, "our-project", "2"), "proj_1700000000001");
}

TEST_F(AdoptTest, AnotherRunOfTheSameIdIsNotMixedWithIt) {
  RanThere(Spec(kId, 1));
  ASSERT_TRUE(Take(kId).ok());
  const run::RunSpec other = Spec(kId, 1);  // with another key
  ASSERT_TRUE(RemoveTree(run::RunFolder(far_.home(), kId).path()).ok());
  RanThere(other);
  EXPECT_EQ(Take(kId).error().kind, ErrorKind::kInvalid);
}

TEST_F(AdoptTest, ARunThatIsNotThereAndNamesThatLeadOut) {
  EXPECT_EQ(Take("proj_1").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(Take("../x").error().kind, ErrorKind::kInvalid);
  run::HostedRun bad;
  bad.run_id = "../../etc";
  services_.hosted.runs.push_back(bad);
  EXPECT_TRUE(RunsToAdopt(context_, far_)->empty());
}

TEST_F(AdoptTest, ASpecThatIsNoneIsAnError) {
  const run::RunFolder folder(far_.home(), kId);
  ASSERT_TRUE(MakeDirs(folder.path()).ok());
  for (const char* bad : {"", "[]", "{}", "{\"spec\": {}}", "{\"spec\": 3}"}) {
    ASSERT_TRUE(WriteFileAtomically(folder.spec(), bad, 0644, Durability::kProcess).ok());
    EXPECT_FALSE(Take(kId).ok()) << bad;
  }
  EXPECT_FALSE(Exists(run::RunFolder(context_.home, kId).path()));
}

}  // namespace
}  // namespace tenon::engine
