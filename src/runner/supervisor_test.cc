// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "executor/fake_executor.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "runner/facts.h"
#include "snapshot/freeze.h"
#include "snapshot/object_store.h"

namespace tenon::runner {
namespace {

using executor::FakeExecutor;

// One run with a script made of data, in a home of its own.
class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    char name[] = "/tmp/tenon-supervisor-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    request_.run.home = name;
    request_.run.run_id = request_.spec.id = "proj_1";
    request_.spec.key = NewUuid();
    request_.spec.script = "main.py";
    request_.spec.python = "sh";
    request_.spec.grace_us = 30'000'000;
    request_.environment = CurrentEnvironment();
    std::string project = std::string(name) + "/project";
    TENON_CHECK(MakeDirs(project).ok() && MakeDirs(Folder().path()).ok());
    TENON_CHECK(WriteFileAtomically(project + "/main.py", "x", 0644, Durability::kProcess).ok());
    auto store = snapshot::ObjectStore::Open(run::Home(name).objects());
    TENON_CHECK(store.ok());
    snapshot::FreezeOptions freeze;
    freeze.folder = project;
    auto frozen = snapshot::Freeze(*store, freeze);
    TENON_CHECK(frozen.ok());
    request_.spec.tree = frozen->root.Hex();
  }
  ~SupervisorTest() override { EXPECT_TRUE(RemoveTree(request_.run.home).ok()); }
  run::RunFolder Folder() const { return request_.run.Folder(); }

  // Carries the run out. `meanwhile` is called every few milliseconds once the script runs.
  void Run(FakeExecutor::Plan plan, std::function<void(Supervisor&)> meanwhile = {}) {
    auto writer = journal::Writer::Open({Folder().host_segment(), request_.spec.key,
                                         std::string(run::kHostSegment), nullptr, false});
    ASSERT_TRUE(writer.ok());
    Recorder recorder(std::move(*writer), request_.SecretValues(), Folder().runner_log());
    Syncer syncer(recorder.writer());
    PollLoop loop;
    auto fake = std::make_unique<FakeExecutor>(plan);
    fake_ = fake.get();
    Supervisor supervisor(request_, recorder, syncer, loop, std::move(fake));
    // The fake has no process whose end could raise a signal.
    std::function<void()> look = [&] {
      supervisor.OnSignal(SIGCHLD);
      if (meanwhile && fake_->pid() != 0) meanwhile(supervisor);
      loop.AddTimer(2'000, look);
    };
    loop.AddTimer(0, look);
    supervisor.Run();
    signals_ = fake_->signals();
    Read();
  }
  void Read() {
    auto reader = journal::Reader::Open(Folder().host_segment());
    ASSERT_TRUE(reader.ok());
    for (;;) {
      auto record = reader->Next();
      ASSERT_TRUE(record.ok());
      if (!*record) break;
      auto event = run::DecodeEvent((*record)->type, (*record)->payload);
      ASSERT_TRUE(event.ok() && event->has_value());
      if (auto* end = std::get_if<run::End>(&**event)) ends_.push_back(*end);
      if (auto* notice = std::get_if<run::Notice>(&**event)) notices_.push_back(notice->text);
      if (auto* state = std::get_if<run::StateChange>(&**event)) states_.push_back(state->state);
      if (auto* output = std::get_if<run::Output>(&**event)) {
        (output->stream == run::Stream::kStdout ? out_ : err_) += output->bytes;
      }
    }
    ASSERT_EQ(ends_.size(), 1u);
  }
  const run::End& end() const { return ends_[0]; }

  StartRequest request_;
  FakeExecutor* fake_ = nullptr;
  std::vector<int> signals_;
  std::vector<run::End> ends_;
  std::vector<std::string> notices_;
  std::vector<run::State> states_;
  std::string out_, err_;
};

TEST_F(SupervisorTest, AnOrdinaryRunGoesThroughItsStates) {
  FakeExecutor::Plan plan;
  plan.to_stdout = "out";
  plan.to_stderr = "err";
  Run(plan);
  using run::State;
  EXPECT_EQ(states_, (std::vector<State>{State::kPreparing, State::kRunning, State::kFinalizing}));
  EXPECT_EQ(out_, "out");
  EXPECT_EQ(err_, "err");
  EXPECT_EQ(end().state, State::kCompleted);
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_TRUE(end().reason.empty());
  EXPECT_TRUE(signals_.empty());
  EXPECT_TRUE(notices_.empty());
  EXPECT_FALSE(Exists(Folder().work()));
  EXPECT_FALSE(Exists(Folder().metrics()));
}

// The worker may be done at any moment between two looks of the loop.
TEST_F(SupervisorTest, TheEndOfPreparingIsNeverMissed) {
  for (int i = 2; i < 200; ++i) {
    request_.run.run_id = request_.spec.id = "proj_" + std::to_string(i);
    ASSERT_TRUE(MakeDirs(Folder().path()).ok());
    ends_.clear();
    Run({});
    ASSERT_EQ(end().state, run::State::kCompleted);
  }
}

TEST_F(SupervisorTest, AScriptThatCannotBeStartedEndsWith125) {
  FakeExecutor::Plan plan;
  plan.start_error = Denied("start sh: Permission denied");
  Run(plan);
  EXPECT_EQ(end().state, run::State::kFailed);
  EXPECT_EQ(end().exit_code, 125);
  EXPECT_EQ(end().reason, "start sh: Permission denied");
  EXPECT_EQ(end().start_us, 0);
  EXPECT_EQ(states_.back(), run::State::kPreparing);
}

TEST_F(SupervisorTest, ProcessesThatCannotBeEndedAreSaidAndTheRunEndsAllTheSame) {
  request_.spec.grace_us = 10'000;
  FakeExecutor::Plan plan;
  plan.leaves = 3;
  plan.they_ignore_term = true;
  plan.unkillable = 2;
  Run(plan);
  ASSERT_TRUE(end().proof.has_value());
  EXPECT_EQ(end().proof->left, 2);
  EXPECT_EQ(end().proof->ended, 1);
  EXPECT_EQ(notices_,
            (std::vector<std::string>{"3 processes were left by the script and were ended",
                                      "2 processes of the run could not be ended"}));
  EXPECT_EQ(signals_, (std::vector<int>{SIGTERM, SIGKILL}));
}

TEST_F(SupervisorTest, ACancelAfterTheScriptsEndDoesNotRewriteIt) {
  FakeExecutor::Plan plan;
  plan.leaves = 1;
  plan.they_ignore_term = true;
  bool asked = false;
  Run(plan, [&](Supervisor& supervisor) {
    // The first look may come while the script still counts as running.
    if (!asked && fake_->CountLeft() == 1) supervisor.OnSignal(SIGCHLD);
    if (std::exchange(asked, true)) return;
    std::string json = "{\"grace_us\": 0}";
    ASSERT_TRUE(
        WriteFileAtomically(Folder().cancel_request(), json, 0644, Durability::kProcess).ok());
    supervisor.OnSignal(SIGUSR1);
  });
  EXPECT_EQ(end().state, run::State::kCompleted);
  EXPECT_FALSE(Exists(Folder().cancel_request()));
  EXPECT_EQ(end().proof->left, 0);
}

TEST_F(SupervisorTest, Usr2CancelsWithTheRunsOwnGrace) {
  request_.spec.grace_us = 20'000;
  FakeExecutor::Plan plan;
  plan.runs_us = -1;
  plan.ignores_term = true;
  bool asked = false;
  Run(plan, [&](Supervisor& supervisor) {
    if (!std::exchange(asked, true)) supervisor.OnSignal(SIGUSR2);
  });
  EXPECT_EQ(end().state, run::State::kCanceled);
  EXPECT_EQ(end().exit_code, 143);
  EXPECT_EQ(signals_, (std::vector<int>{SIGTERM, SIGKILL}));
}

TEST_F(SupervisorTest, ATimeoutThatMeetsACancelIsACancel) {
  request_.spec.timeout_us = 60'000;
  request_.spec.grace_us = 200'000;
  FakeExecutor::Plan plan;
  plan.runs_us = -1;
  plan.ignores_term = true;
  bool asked = false;
  Run(plan, [&](Supervisor& supervisor) {
    if (!std::exchange(asked, true)) supervisor.OnSignal(SIGTERM);
  });
  EXPECT_EQ(end().state, run::State::kCanceled);
  EXPECT_EQ(end().reason, "the runner was asked to stop (SIGTERM)");
}

TEST_F(SupervisorTest, NothingThatIsSecretIsWritten) {
  request_.secrets = {{"S", "top-secret"}};
  request_.spec.arguments = {"--key=top-secret"};
  FakeExecutor::Plan plan;
  plan.to_stdout = "top-secret top-sec";
  Run(plan);
  EXPECT_EQ(out_, "*** top-sec");
  EXPECT_EQ(fake_ == nullptr, false);
  auto bytes = ReadFile(Folder().host_segment());
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->find("top-secret"), std::string::npos);
  EXPECT_NE(bytes->find("--key=***"), std::string::npos);
}

TEST_F(SupervisorTest, FactsTellWhatASegmentHolds) {
  FakeExecutor::Plan plan;
  plan.status = {4, 0};
  Run(plan);
  auto facts = ReadFacts(Folder().host_segment());
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->state, run::State::kFailed);
  ASSERT_TRUE(facts->end.has_value());
  EXPECT_EQ(facts->end->exit_code, 4);
  ASSERT_TRUE(facts->script.has_value());
  EXPECT_GT(facts->script_us, 0);
  EXPECT_EQ(ReadFacts(Folder().path() + "/none.tj").error().kind, ErrorKind::kNotFound);
}

TEST(SignalReason, NamesTheSignal) {
  EXPECT_EQ(SignalReason(9), "killed by signal 9 (Killed)");
  EXPECT_EQ(SignalReason(11), "killed by signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace tenon::runner
