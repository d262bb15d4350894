// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/file.h"
#include "base/text.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/fake_executor.h"
#include "runner/supervise/test_run.h"

namespace tenon::runner {
namespace {

using Plan = executor::FakeScript::Plan;

// One run of a FakeScript.
class SupervisorTest : public testing::Test, protected TestRun {
 protected:
  // `meanwhile` is called every few milliseconds once the script runs.
  void Run(Plan plan, std::function<void(Supervisor&)> meanwhile = {}) {
    auto fake = std::make_unique<FakeExecutor>(request, plan);
    fake_ = &fake->script();
    TestRun::Run(std::move(fake), [&](Supervisor& supervisor) {
      signals_ = fake_->signals();
      if (meanwhile && fake_->pid() != 0) meanwhile(supervisor);
    });
  }

  executor::FakeScript* fake_ = nullptr;
  std::vector<int> signals_;
};

TEST_F(SupervisorTest, AnOrdinaryRunGoesThroughItsStates) {
  Plan plan;
  plan.to_stdout = "out";
  plan.to_stderr = "err";
  Run(plan);
  using run::State;
  EXPECT_EQ(states, (std::vector<State>{State::kPreparing, State::kRunning, State::kFinalizing}));
  EXPECT_EQ(out, "out");
  EXPECT_EQ(err, "err");
  EXPECT_EQ(end().state, State::kCompleted);
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_TRUE(end().reason.empty());
  EXPECT_TRUE(signals_.empty());
  EXPECT_TRUE(notices.empty());
  EXPECT_FALSE(Exists(Folder().work()));
  EXPECT_FALSE(Exists(Folder().metrics()));
}

// The worker may be done at any moment between two looks of the loop.
TEST_F(SupervisorTest, TheEndOfPreparingIsNeverMissed) {
  for (int i = 2; i < 200; ++i) {
    request.run.run_id = request.spec.id = "proj_" + std::to_string(i);
    ASSERT_TRUE(MakeDirs(Folder().path()).ok());
    ends.clear();
    Run({});
    ASSERT_EQ(end().state, run::State::kCompleted);
  }
}

TEST_F(SupervisorTest, AScriptThatCannotBeStartedEndsWith125) {
  Plan plan;
  plan.start_error = Denied("start sh: Permission denied");
  Run(plan);
  EXPECT_EQ(end().state, run::State::kFailed);
  EXPECT_EQ(end().exit_code, 125);
  EXPECT_EQ(end().reason, "start sh: Permission denied");
  EXPECT_EQ(end().start_us, 0);
  EXPECT_EQ(states.back(), run::State::kPreparing);
}

TEST_F(SupervisorTest, ProcessesThatCannotBeEndedAreSaidAndTheRunEndsAllTheSame) {
  request.spec.grace_us = 10'000;
  Plan plan;
  plan.leaves = 3;
  plan.they_ignore_term = true;
  plan.unkillable = 2;
  Run(plan);
  ASSERT_TRUE(end().proof.has_value());
  EXPECT_EQ(end().proof->left, 2);
  EXPECT_EQ(end().proof->ended, 1);
  EXPECT_EQ(notices, (std::vector<std::string>{"3 processes were left by the script and were ended",
                                               "2 processes of the run could not be ended"}));
  EXPECT_EQ(signals_, (std::vector<int>{SIGTERM, SIGKILL}));
}

TEST_F(SupervisorTest, ACancelAfterTheScriptsEndDoesNotRewriteIt) {
  Plan plan;
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
  request.spec.grace_us = 20'000;
  Plan plan;
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
  request.spec.timeout_us = 60'000;
  request.spec.grace_us = 200'000;
  Plan plan;
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
  request.secrets = {{"S", "top-secret"}};
  request.spec.arguments = {"--key=top-secret"};
  Plan plan;
  plan.to_stdout = "top-secret top-sec";
  Run(plan);
  EXPECT_EQ(out, "*** top-sec");
  EXPECT_EQ(fake_ == nullptr, false);
  auto bytes = ReadFile(Folder().host_segment());
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->find("top-secret"), std::string::npos);
  EXPECT_NE(bytes->find("--key=***"), std::string::npos);
}

TEST_F(SupervisorTest, FactsTellWhatASegmentHolds) {
  Plan plan;
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
