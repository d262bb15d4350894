// SPDX-License-Identifier: Apache-2.0
// What every Executor promises, as tests: whole runs, carried out by a real supervisor.
#ifndef TENON_RUNNER_SUPERVISE_EXECUTOR_CONTRACT_H_
#define TENON_RUNNER_SUPERVISE_EXECUTOR_CONTRACT_H_

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/text.h"
#include "run/segment.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/test_run.h"

namespace tenon::runner {

// What the project's script does, whatever executor runs it. Executors that run files find it as
// main.sh.
enum class Play {
  kHello,        // writes "hello" and "oops" to its two streams, exits with 3
  kFine,         // exits with 0
  kIgnoresTerm,  // writes "ready", runs until SIGKILL
  kDaemon,       // leaves a process behind that runs on, exits with 0
};

inline const char* ScriptOf(Play play) {
  switch (play) {
    case Play::kHello:
      return "printf hello; printf oops >&2; exit 3\n";
    case Play::kIgnoresTerm:
      return "trap '' TERM; printf ready; while :; do sleep 1; done\n";
    case Play::kDaemon:
      return "setsid sleep 600 &\n";
    case Play::kFine:
      break;
  }
  return "exit 0\n";
}

struct ExecutorParam {
  std::string name;
  std::function<std::unique_ptr<Executor>(const StartRequest&, const Facts&, Play)> make;
  // How many processes the launcher starts, each with a segment of its own. 0: there is no
  // launcher, and the runner records the script.
  int ranks = 0;
  bool enters = true;  // Enter() really runs the command
};

class ExecutorContract : public testing::TestWithParam<ExecutorParam>, protected TestRun {
 protected:
  ExecutorContract() { request.spec.grace_us = 300'000; }

  std::unique_ptr<Executor> Make(Play play) {
    SetScript("main.sh", ScriptOf(play));
    return GetParam().make(request, {}, play);
  }
  // The executor that a later runner makes from what is on record.
  std::unique_ptr<Executor> MakeAgain(Play play) {
    auto facts = ReadFacts(Folder().host_segment());
    TENON_CHECK(facts.ok());
    return GetParam().make(request, *facts, play);
  }
  // Whether the journal says that the script was started.
  bool IsUnderWay() const {
    const auto facts = ReadFacts(Folder().host_segment());
    return facts.ok() && facts->script.has_value();
  }
  std::string TimesRanks(const std::string& text) const {
    std::string all;
    for (int i = 0; i < GetParam().ranks; ++i) all += text;
    return all;
  }
};

TEST_P(ExecutorContract, OutputAndExitCodeAreTheScripts) {
  TestRun::Run(Make(Play::kHello));
  EXPECT_EQ(end().state, run::State::kFailed);
  EXPECT_EQ(end().exit_code, 3);
  EXPECT_GT(end().start_us, 0);
  EXPECT_EQ(states, (std::vector<run::State>{run::State::kPreparing, run::State::kRunning,
                                             run::State::kFinalizing}));
  EXPECT_EQ(out, GetParam().ranks == 0 ? "hello" : "");
  EXPECT_EQ(err, GetParam().ranks == 0 ? "oops" : "");
  EXPECT_EQ(others_out, TimesRanks("hello"));
  EXPECT_EQ(others_err, TimesRanks("oops"));
}

TEST_P(ExecutorContract, EveryWriterHasASegmentAndTheEndCountsThem) {
  TestRun::Run(Make(Play::kHello));
  ASSERT_EQ(others.size(), static_cast<size_t>(GetParam().ranks));
  for (int i = 0; i < GetParam().ranks; ++i) EXPECT_EQ(others[i], "rank-" + std::to_string(i));
  EXPECT_EQ(end().other_segments, GetParam().ranks);
  EXPECT_EQ(others_ended.size(), others.size());
  for (const run::ScriptEnded& ended : others_ended) EXPECT_EQ(ended.exit_code, 3);
}

TEST_P(ExecutorContract, ARunThatCompletesLeavesNoFolders) {
  TestRun::Run(Make(Play::kFine));
  EXPECT_EQ(end().state, run::State::kCompleted);
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_FALSE(Exists(Folder().work()));
  EXPECT_FALSE(Exists(Folder().metrics()));
}

TEST_P(ExecutorContract, ACancelEndsWhatIgnoresTheRequest) {
  bool asked = false;
  TestRun::Run(Make(Play::kIgnoresTerm), [&](Supervisor& supervisor) {
    if (asked || !IsUnderWay()) return;
    asked = true;
    supervisor.OnSignal(SIGUSR2);
  });
  EXPECT_EQ(end().state, run::State::kCanceled);
  ASSERT_TRUE(end().proof.has_value());
  EXPECT_EQ(end().proof->left, 0);
}

TEST_P(ExecutorContract, WhatAScriptLeavesBehindIsEnded) {
  TestRun::Run(Make(Play::kDaemon));
  EXPECT_EQ(end().state, run::State::kCompleted);
  ASSERT_TRUE(end().proof.has_value());
  EXPECT_EQ(end().proof->left, 0);
  int64_t said = 0;
  for (const run::ScriptEnded& ended : others_ended) said += ended.leftovers;
  EXPECT_EQ(said, GetParam().ranks);
  EXPECT_EQ(notices.size(), GetParam().ranks == 0 ? 1u : 0u);
}

TEST_P(ExecutorContract, CanceledBeforeTheStartNothingIsStarted) {
  ASSERT_TRUE(
      WriteFileAtomically(Folder().cancel_request(), "{}", 0600, Durability::kProcess).ok());
  TestRun::Run(Make(Play::kIgnoresTerm));
  EXPECT_EQ(end().state, run::State::kCanceled);
  EXPECT_EQ(end().start_us, 0);
  ASSERT_TRUE(end().proof.has_value());
  EXPECT_EQ(end().proof->method, "none");
  EXPECT_TRUE(others.empty());
}

TEST_P(ExecutorContract, PreparingAloneStartsNothing) {
  request.spec.only_prepare = true;
  TestRun::Run(Make(Play::kIgnoresTerm));
  EXPECT_EQ(end().state, run::State::kCompleted);
  EXPECT_EQ(end().start_us, 0);
  EXPECT_TRUE(others.empty());
}

TEST_P(ExecutorContract, ReleasingWhatWasNeverStartedMayBeRepeated) {
  const auto executor = Make(Play::kFine);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(executor->Release([](const run::Event&) { ADD_FAILURE() << "nothing to tell"; }));
  }
  EXPECT_FALSE(executor->OutlivesRunner());
  EXPECT_EQ(executor->script().EndAll(/*thorough=*/true).left, 0);
}

TEST_P(ExecutorContract, WhoComesAfterTheEndFindsNothingToFetchOrRelease) {
  request.spec.keep = true;
  TestRun::Run(Make(Play::kFine));
  const auto later = MakeAgain(Play::kFine);
  auto writer = journal::Writer::Open(
      {Folder().host_segment(), request.spec.key, std::string(run::kHostSegment), nullptr, false});
  ASSERT_TRUE(writer.ok());
  const uint64_t before = writer->last_record();
  Recorder recorder(std::move(*writer), {}, Folder().runner_log());
  SafeNames names(SecretsOf(request));
  EXPECT_TRUE(later->FetchMetrics(recorder, names));
  EXPECT_FALSE(later->FetchOutputs(recorder).has_value());
  EXPECT_TRUE(later->Release([](const run::Event&) {}));
  EXPECT_EQ(recorder.last_record(), before);
}

TEST_P(ExecutorContract, EnteringGivesTheCommandsExitCode) {
  if (!GetParam().enters) return;
  request.spec.keep = true;
  TestRun::Run(Make(Play::kFine));
  auto code = MakeAgain(Play::kFine)->Enter(Door::kPlain, {"sh", "-c", "exit 7"});
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, 7);
}

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_EXECUTOR_CONTRACT_H_
