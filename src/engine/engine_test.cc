// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "engine/outputs/artifacts.h"
#include "engine/run/follow.h"
#include "engine/run/restore.h"
#include "engine/run/runs.h"
#include "engine/run/submit.h"
#include "engine/space/space.h"
#include "history/failing_store.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

// Keeps what it is told.
class Recording : public Reporter {
 public:
  void OnRunId(const std::string& id) override { run_id = id; }
  void OnOutput(run::Stream, std::string_view bytes, int64_t) override { output += bytes; }
  void OnHole(uint64_t bytes) override { holes += bytes; }
  void OnNotice(const run::Notice& notice) override { notices.push_back(notice.text); }
  void OnEnd(const run::End& e) override { end = e; }
  std::string run_id, output;
  uint64_t holes = 0;
  std::vector<std::string> notices;
  std::optional<run::End> end;
};

// A real store, host and journal; the runner is a fake that writes the segment a test gives it.
class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    context_.host = &host_;
    context_.launch = &launch_;
    context_.services = &services_;
    context_.clock = &clock_;
    context_.version = "test";
    EXPECT_TRUE(MakeDirs(project_).ok());
    Write("main.py", "print(1)\n");
    launch_.on_start = [this](const launch::StartRequest& request) {
      return WriteFarSegment(request.spec, {run::RunnerStarted{},
                                            run::Output{run::Stream::kStdout, "hi\n"}, Ended(0)});
    };
  }

  void Write(const std::string& name, const std::string& text) {
    const std::string path = JoinPath(project_, name);
    ASSERT_TRUE(MakeDirs(DirName(path)).ok());
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644, Durability::kProcess).ok());
  }

  static run::End Ended(int code) {
    run::End end;
    end.state = code == 0 ? run::State::kCompleted : run::State::kFailed;
    end.exit_code = code;
    return end;
  }

  Status WriteFarSegment(const run::RunSpec& spec, const std::vector<run::Event>& events) {
    TENON_TRY(auto writer,
              journal::Writer::Open({run::RunFolder(context_.home, spec.id).host_segment(),
                                     spec.key, "host", &clock_, false}));
    for (const run::Event& event : events) TENON_TRY_VOID(writer.Append(event));
    return {};
  }

  SubmitRequest Request() {
    SubmitRequest request;
    request.folder.root = project_;
    request.folder.redact_compute = [](std::string_view bytes) {
      return std::string(bytes.substr(0, bytes.find("password:")));
    };
    request.spec.project = "proj";
    request.spec.project_id = "project-id";
    request.spec.script = "main.py";
    request.spec.target = "local";
    request.spec.target_type = "local";
    return request;
  }

  std::string MustSubmit(SubmitRequest request) {
    auto id = Submit(context_, std::move(request), reporter_);
    EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
    return id.ok() ? *id : "";
  }

  TempFolder temp_;
  std::string project_ = temp_ / "proj";
  FakeClock clock_;
  transport::LocalHost host_;
  launch::FakeLaunch launch_;
  launch::FakeServices services_{launch_};
  Recording reporter_;
  Context context_{run::Home(temp_ / "home")};
};

TEST_F(EngineTest, RunnerThatCannotStartLeavesAFailedRunWithTheReason) {
  launch_.FailNext(Unavailable("no more processes"));
  auto id = Submit(context_, Request(), reporter_);
  ASSERT_FALSE(id.ok());
  auto run = GetRun(context_, reporter_.run_id);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->state, run::State::kFailed);
  EXPECT_TRUE(run->end->never_started);
  EXPECT_NE(run->reason.find("no more processes"), std::string::npos);
}

TEST_F(EngineTest, TwoSubmitsInTheSameMillisecondGetTwoIds) {
  const std::string first = MustSubmit(Request()), second = MustSubmit(Request());
  EXPECT_EQ(first, "proj_1500000000000");
  EXPECT_EQ(second, "proj_1500000000001");
  EXPECT_EQ(GetRun(context_, second)->spec.number, 2);
}

TEST_F(EngineTest, NumbersGoOnWhenTheCounterFileIsLost) {
  MustSubmit(Request());
  MustSubmit(Request());
  ASSERT_TRUE(RemoveTree(temp_ / "home/numbers").ok());
  EXPECT_EQ(GetRun(context_, MustSubmit(Request()))->spec.number, 3);
}

TEST_F(EngineTest, HistoryThatFailsDoesNotStopASubmit) {
  context_.history_store = std::make_unique<history::FailingStore>();
  ASSERT_TRUE(MakeDirs(temp_ / "home/numbers").ok());
  Write("ignored", "");
  SubmitRequest request = Request();
  // The first submit makes the counter, so that the next number does not depend on the index.
  context_.history_store = nullptr;
  MustSubmit(Request());
  context_.history_store = std::make_unique<history::FailingStore>();
  const std::string id = MustSubmit(std::move(request));
  EXPECT_FALSE(id.empty());
  ASSERT_FALSE(reporter_.notices.empty());
  EXPECT_NE(reporter_.notices.back().find("index was not updated"), std::string::npos);
}

TEST_F(EngineTest, SecretsAreInTheRequestToTheRunnerAndNowhereElse) {
  SubmitRequest request = Request();
  request.secrets = {{"KEY", "hunter2-very-secret"}};
  request.spec.arguments = {"--key=hunter2-very-secret"};
  request.spec.parameters = run::ParametersFromArguments(request.spec.arguments);
  const std::string id = MustSubmit(std::move(request));
  EXPECT_EQ(launch_.starts.back().secrets.at("KEY"), "hunter2-very-secret");
  EXPECT_EQ(launch_.starts.back().spec.arguments[0], "--key=hunter2-very-secret");
  auto run = GetRun(context_, id);
  EXPECT_EQ(run->spec.arguments[0], "--key=***");
  EXPECT_EQ(run->spec.parameters[0].second, "***");
  EXPECT_EQ(run->spec.secret_names, std::vector<std::string>{"KEY"});
}

TEST_F(EngineTest, ShortSecretIsRefusedBeforeAnythingIsMade) {
  SubmitRequest request = Request();
  request.secrets = {{"KEY", "abc"}};
  EXPECT_FALSE(Submit(context_, std::move(request), reporter_).ok());
  EXPECT_FALSE(Exists(temp_ / "home"));
}

TEST_F(EngineTest, FollowFromAPlaceRepeatsNothing) {
  const std::string id = MustSubmit(Request());
  auto all = Follow(context_, id, {}, reporter_);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(reporter_.output, "hi\n");
  ASSERT_TRUE(reporter_.end.has_value());
  Recording second;
  launch_.SetState(id, run::State::kCompleted);
  FollowOptions after;
  after.after = all->place;
  auto rest = Follow(context_, id, after, second);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_EQ(second.output, "");
  EXPECT_FALSE(second.end.has_value());
}

TEST_F(EngineTest, ClientKilledBeforeTheHostHeardOfItIsNeverStarted) {
  launch_.on_start = nullptr;
  const std::string id = MustSubmit(Request());  // the fake wrote no far segment
  auto run = GetRun(context_, id);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->state, run::State::kFailed);
  EXPECT_TRUE(run->end->never_started);
}

TEST_F(EngineTest, NameOfARunByIdNumberPrefixAndLast) {
  const std::string first = MustSubmit(Request()), second = MustSubmit(Request());
  EXPECT_EQ(*ResolveRun(context_, "project-id", "last"), second);
  EXPECT_EQ(*ResolveRun(context_, "project-id", "1"), first);
  EXPECT_EQ(*ResolveRun(context_, "project-id", first), first);
  EXPECT_EQ(*ResolveRun(context_, "project-id", "proj_1500000000001"), second);
  auto several = ResolveRun(context_, "project-id", "proj_");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(several.error().message.find(first), std::string::npos);
  EXPECT_EQ(ResolveRun(context_, "project-id", "99").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(*ResolveRun(context_, "other-project", first), first);
}

TEST_F(EngineTest, RunThatIsGoingCannotBeDeleted) {
  journal::Writer* held = nullptr;
  std::optional<journal::Writer> writer;
  launch_.on_start = [&](const launch::StartRequest& request) -> Status {
    TENON_TRY(auto opened,
              journal::Writer::Open({run::RunFolder(context_.home, request.spec.id).host_segment(),
                                     request.spec.key, "host", &clock_, false}));
    writer.emplace(std::move(opened));
    held = &*writer;
    TENON_TRY_VOID(held->Append(run::StateChange{run::State::kRunning, ""}));
    return {};
  };
  const std::string id = MustSubmit(Request());
  auto refused = DeleteRun(context_, id);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("cancel"), std::string::npos);
  ASSERT_TRUE(held->Append(Ended(0)).ok());
  writer.reset();
  EXPECT_TRUE(DeleteRun(context_, id).ok());
  EXPECT_EQ(GetRun(context_, id).error().kind, ErrorKind::kNotFound);
}

TEST_F(EngineTest, PasswordsStayOutOfTheStore) {
  Write("aml_config/vm.compute", "type: remotedocker\npassword: s3cret-word\n");
  const std::string id = MustSubmit(Request());
  auto run = GetRun(context_, id);
  EXPECT_NE(run->spec.tree, run->spec.kept_tree);
  const std::string back = temp_ / "back";
  ASSERT_TRUE(Restore(context_, *run, {back, false, nullptr, nullptr}).ok());
  EXPECT_EQ(*ReadFile(JoinPath(back, "aml_config/vm.compute")), "type: remotedocker\n");
}

TEST_F(EngineTest, RestoreNamesChangedFilesAndWritesNothing) {
  Write("b.txt", "old");
  auto run = GetRun(context_, MustSubmit(Request()));
  Write("main.py", "print(2)\n");
  ASSERT_TRUE(RemoveFile(JoinPath(project_, "b.txt")).ok());
  auto refused = Restore(context_, *run, {project_, false, nullptr, nullptr});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("main.py"), std::string::npos);
  EXPECT_FALSE(Exists(JoinPath(project_, "b.txt")));
  const ProjectFolder present = Request().folder;
  auto done = Restore(context_, *run, {project_, true, &present, nullptr});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->written, (std::vector<std::string>{"b.txt", "main.py"}));
  EXPECT_EQ(*ReadFile(JoinPath(project_, "main.py")), "print(1)\n");
  EXPECT_EQ(done->saved_tree.size(), 64u);
}

TEST_F(EngineTest, RestoreOverAFolderThatHasBecomeAFile) {
  Write("data/a.txt", "a");
  auto run = GetRun(context_, MustSubmit(Request()));
  ASSERT_TRUE(RemoveTree(JoinPath(project_, "data")).ok());
  Write("data", "a file now");
  auto done = Restore(context_, *run, {project_, true, nullptr, nullptr});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(*ReadFile(JoinPath(project_, "data/a.txt")), "a");
}

TEST_F(EngineTest, GarbageKeepsWhatRunsNeedAndFreesTheRest) {
  Write("big.bin", std::string(300'000, 'a') + "1");
  const std::string first = MustSubmit(Request());
  Write("big.bin", std::string(300'000, 'b') + "2");
  const std::string second = MustSubmit(Request());
  ASSERT_TRUE(DeleteRun(context_, first).ok());
  GcOptions now;
  now.min_object_age_us = 0;
  auto collected = CollectGarbage(context_, now, reporter_);
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  auto run = GetRun(context_, second);
  const std::string back = temp_ / "back";
  ASSERT_TRUE(Restore(context_, *run, {back, false, nullptr, nullptr}).ok());
  EXPECT_EQ(ReadFile(JoinPath(back, "big.bin"))->back(), '2');
}

TEST_F(EngineTest, ArtifactsThatAreThereAreNotOverwritten) {
  auto run = GetRun(context_, MustSubmit(Request()));
  const std::string folder = temp_ / "down";
  ASSERT_TRUE(DownloadArtifacts(context_, *run, {.folder = folder}).ok());
  EXPECT_EQ(*ReadFile(JoinPath(folder, "driver_log")), "hi\n");
  auto again = DownloadArtifacts(context_, *run, {.folder = folder, .only = "driver_log"});
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().hint.find("--overwrite"), std::string::npos);
  EXPECT_TRUE(
      DownloadArtifacts(context_, *run, {.folder = folder, .only = "driver_log", .overwrite = true})
          .ok());
  EXPECT_EQ(DownloadArtifacts(context_, *run, {.folder = temp_ / "x", .only = "outputs/none"})
                .error()
                .kind,
            ErrorKind::kNotFound);
  EXPECT_FALSE(Exists(temp_ / "x"));
}

TEST_F(EngineTest, ArtifactsThatLeadOutOfTheFolderAreNotWritten) {
  auto run = GetRun(context_, MustSubmit(Request()));
  const auto objects = context_.Objects();
  const auto hash = (*objects)->Put("theirs");
  ASSERT_TRUE(hash.ok() && (*objects)->Flush().ok());
  for (const std::string& path :
       {std::string("../theirs"), temp_ / "theirs", std::string("outputs/../../theirs"),
        std::string(""), std::string("aml_config/local.compute"), std::string(".bashrc")}) {
    run->artifacts = {{path, 6, hash->Hex()}};
    const auto written =
        DownloadArtifacts(context_, *run, {.folder = temp_ / "down", .overwrite = true});
    ASSERT_FALSE(written.ok()) << path;
    EXPECT_EQ(written.error().kind, ErrorKind::kCorrupt) << path;
  }
  EXPECT_FALSE(Exists(temp_ / "theirs"));
}

TEST_F(EngineTest, GarbageIsCollectedWhileOutputsAreStillOnAnotherMachine) {
  run::RunSpec spec;
  spec.key = NewUuid();
  spec.id = "far_1700000000000";
  spec.host = std::string(32, 'a');
  spec.tree = spec.kept_tree = std::string(64, 'b');
  const run::RunFolder folder(context_.home, spec.id);
  ASSERT_TRUE(MakeDirs(folder.path()).ok());
  auto writer =
      journal::Writer::Open({folder.near_segment("c"), spec.key, "near-c", context_.clock, false});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(run::Submitted{spec, "c", "test"}).ok());
  auto far =
      journal::Writer::Open({folder.host_segment(), spec.key, "host", context_.clock, false});
  ASSERT_TRUE(far.ok());
  ASSERT_TRUE(far->Append(run::Artifacts{{}, std::string(64, 'd')}).ok());
  const auto collected = CollectGarbage(context_, {}, reporter_);
  EXPECT_TRUE(collected.ok()) << collected.error().message;
}

TEST_F(EngineTest, RebuiltHistoryIsEqual) {
  const std::string id = MustSubmit(Request());
  run::Annotation annotation;
  annotation.set_tags = {{"best", "yes"}};
  ASSERT_TRUE(Annotate(context_, id, annotation).ok());
  auto before = GetRun(context_, id);
  auto count = RebuildHistory(context_, reporter_);
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_EQ(count->runs, 1u);
  EXPECT_EQ(count->unreadable, 0u);
  auto after = GetRun(context_, id);
  EXPECT_EQ(after->tags, before->tags);
  EXPECT_EQ(after->state, before->state);
  EXPECT_EQ(after->spec.kept_tree, before->spec.kept_tree);
}

TEST_F(EngineTest, RerunNeedsItsSecretsAgain) {
  SubmitRequest request = Request();
  request.secrets = {{"KEY", "hunter2-very-secret"}};
  const std::string id = MustSubmit(std::move(request));
  RerunRequest again;
  again.run_id = id;
  auto refused = Rerun(context_, again, reporter_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("--secret KEY"), std::string::npos);
  again.secrets = {{"KEY", "hunter2-very-secret"}};
  auto done = Rerun(context_, again, reporter_);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(GetRun(context_, *done)->spec.rerun_of, id);
}

}  // namespace
}  // namespace tenon::engine
