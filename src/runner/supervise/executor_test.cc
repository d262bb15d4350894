// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/executor.h"

#include <utility>

#include "run/env_vars.h"
#include "runner/supervise/executor_contract.h"
#include "runner/supervise/fake_executor.h"
#include "runner/supervise/process_executor.h"
#include "runner/supervise/rank.h"

namespace tenon::runner {
namespace {

std::unique_ptr<Executor> MakeFake(const StartRequest& request, Play play) {
  executor::FakeScript::Plan plan;
  switch (play) {
    case Play::kHello:
      plan.to_stdout = "hello";
      plan.to_stderr = "oops";
      plan.status = {3, 0};
      break;
    case Play::kIgnoresTerm:
      plan.runs_us = -1;
      plan.ignores_term = true;
      break;
    case Play::kDaemon:
      plan.leaves = 1;
      break;
    case Play::kFine:
      break;
  }
  return std::make_unique<FakeExecutor>(request, plan);
}

// A script that only this test uses: its launcher starts three ranks, each of which records itself.
class RanksScript : public executor::Script {
 public:
  explicit RanksScript(std::string run_key) : launcher_(std::move(run_key)) {}

  Result<pid_t> Start(const executor::ProcessRequest& request, RankDoor door) {
    door_.emplace(std::move(door));
    return launcher_.Start(request);
  }
  int event_fd() const override { return door_ ? door_->fd() : -1; }
  void Signal(int signal) override { launcher_.Signal(signal); }
  std::optional<executor::Exit> Reap() override {
    if (door_) door_->Serve();
    return launcher_.Reap();
  }
  int64_t CountLeft() override { return launcher_.CountLeft(); }
  run::Proof EndAll(bool thorough) override { return launcher_.EndAll(thorough); }

 private:
  executor::ProcessScript launcher_;
  std::optional<RankDoor> door_;
};

constexpr const char* kLauncher =
    "P=''\n"
    "for K in 0 1 2; do RANK=$K \"$0\" rank -- sh main.sh & P=\"$P $!\"; done\n"
    "C=0; for I in $P; do wait $I || C=$?; done; exit $C\n";

class RanksExecutor : public Executor {
 public:
  RanksExecutor(StartRequest request, const Facts& facts)
      : request_(std::move(request)), process_(request_, facts), script_(request_.spec.key) {}

  Status PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) override {
    return process_.PrepareEnvironment(handover, stop);
  }
  Status Prepare(Handover& handover, const std::atomic<bool>& stop) override {
    TENON_TRY_VOID(process_.PrepareEnvironment(handover, stop));
    return MakeDirs(DoorFolder(), 0700);
  }
  Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open, const Tell&) override {
    TENON_TRY(const Streams streams, open());
    TENON_TRY(RankDoor door, RankDoor::Open(request_, DoorFolder()));
    executor::ProcessRequest launcher;
    launcher.argv = {"/bin/sh", "-c", kLauncher, TENON_TEST_RUNNER};
    launcher.cwd = request_.run.Folder().work();
    launcher.env = CurrentEnvironment();
    launcher.env[run::env::kRankDoor] = DoorFolder();
    launcher.stdout_fd = streams.stdout_fd;
    launcher.stderr_fd = streams.stderr_fd;
    TENON_TRY(const pid_t pid, script_.Start(launcher, std::move(door)));
    return std::optional(executor::StartedAs(pid, launcher.argv));
  }
  executor::Script& script() override { return script_; }
  Result<int> Enter(Door door, std::vector<std::string> command) override {
    return process_.Enter(door, std::move(command));
  }
  bool FetchMetrics(Recorder&, SafeNames&) override { return true; }

 private:
  std::string DoorFolder() const { return request_.run.Folder().path() + "/door"; }

  StartRequest request_;
  ProcessExecutor process_;  // for what both do in the same way
  RanksScript script_;
};

INSTANTIATE_TEST_SUITE_P(
    All, ExecutorContract,
    testing::Values(ExecutorParam{"Process",
                                  [](const StartRequest& request, const Facts& facts, Play) {
                                    return std::make_unique<ProcessExecutor>(request, facts);
                                  }},
                    ExecutorParam{"ThreeRanks",
                                  [](const StartRequest& request, const Facts& facts, Play) {
                                    return std::make_unique<RanksExecutor>(request, facts);
                                  },
                                  /*ranks=*/3},
                    ExecutorParam{"Fake",
                                  [](const StartRequest& request, const Facts&, Play play) {
                                    return MakeFake(request, play);
                                  },
                                  /*ranks=*/0, /*enters=*/false}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(ExecutorTable, KnowsTheKindsOfThisVersionAndNamesTheOthers) {
  StartRequest request;
  request.spec.key = NewUuid();
  for (const auto kind : {run::ExecutorKind::kProcess, run::ExecutorKind::kContainer}) {
    request.spec.executor = kind;
    EXPECT_TRUE(MakeExecutor(request, {}).ok());
  }
  request.spec.executor = run::ExecutorKind::kSpark;
  const auto spark = MakeExecutor(request, {});
  ASSERT_FALSE(spark.ok());
  EXPECT_EQ(spark.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(spark.error().message.find("spark-submit"), std::string::npos);
}

// A power cut may take the spec and leave the segment.
TEST(ExecutorTable, AContainerOnRecordIsLookedAfterWhateverTheSpecSays) {
  StartRequest request;
  request.spec.key = NewUuid();
  Facts facts;
  EXPECT_FALSE(MakeExecutor(request, facts).value()->OutlivesRunner());
  facts.container.emplace();
  facts.container->id = "c1";
  EXPECT_TRUE(MakeExecutor(request, facts).value()->OutlivesRunner());
}

TEST(Rank, TheNumberIsThatOfTheFirstVariableThatIsSet) {
  EXPECT_EQ(RankNumber({}), std::nullopt);
  EXPECT_EQ(RankNumber({{"RANK", "0"}}), 0);
  EXPECT_EQ(RankNumber({{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "4"}}), 3);
  EXPECT_EQ(RankNumber({{"PMI_RANK", "5"}}), 5);
  EXPECT_EQ(RankNumber({{"RANK", ""}, {"PMIX_RANK", "6"}}), 6);
  for (const char* odd : {"-1", "1x", "x", "512", "99999999999", " 1", "1.0"}) {
    EXPECT_EQ(RankNumber({{"RANK", odd}, {"PMI_RANK", "1"}}), std::nullopt) << odd;
  }
}

TEST(Rank, WhatItIsToldComesBackAsItWas) {
  RankJob job;
  job.run_key = "k";
  job.metrics = "/home/a\xff/metrics";
  job.secrets = {"hunter2-hunter2", "a\nb"};
  job.leftover_grace_us = 5;
  const auto back = RankJob::FromText(job.ToText());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->run_key, job.run_key);
  EXPECT_EQ(back->metrics, job.metrics);
  EXPECT_EQ(back->secrets, job.secrets);
  EXPECT_EQ(back->leftover_grace_us, 5);
  for (const char* text : {"", "[]", "7", "{}", R"({"run_key":"k","metrics":7})"}) {
    EXPECT_FALSE(RankJob::FromText(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tenon::runner
