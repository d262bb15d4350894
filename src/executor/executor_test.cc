// SPDX-License-Identifier: Apache-2.0
#include "executor/executor.h"

#include "executor/executor_contract.h"
#include "executor/fake_executor.h"
#include "executor/process_executor.h"

namespace tenon::executor {
namespace {

std::vector<std::string> ShellFor(Script script) {
  switch (script) {
    case Script::kHello:
      return {"sh", "-c", "printf hello; printf oops >&2; exit 3"};
    case Script::kForEver:
      return {"sh", "-c", "printf r; exec sleep 600"};
    case Script::kIgnoresTerm:
      return {"sh", "-c", "trap '' TERM; printf r; exec sleep 600"};
    case Script::kDaemon:
      // Twice forked, in a session of its own, without the mark in its environment.
      return {"sh", "-c", "env -i /bin/sh -c 'setsid sh -c \"printf r; exec sleep 600\" &'"};
    case Script::kMissing:
      break;
  }
  return {"/no/such/program"};
}

std::pair<std::unique_ptr<Executor>, ExecRequest> MakeProcess(Script script, bool cgroup) {
  auto executor = std::make_unique<ProcessExecutor>();
  if (!cgroup) executor->DisableCgroup();
  ExecRequest request;
  request.argv = ShellFor(script);
  request.env = CurrentEnvironment();
  return {std::move(executor), request};
}

std::pair<std::unique_ptr<Executor>, ExecRequest> MakeFake(Script script) {
  FakeExecutor::Plan plan;
  switch (script) {
    case Script::kHello:
      plan.to_stdout = "hello";
      plan.to_stderr = "oops";
      plan.status = {3, 0};
      break;
    case Script::kForEver:
    case Script::kIgnoresTerm:
      plan.to_stdout = "r";
      plan.runs_us = -1;
      plan.ignores_term = script == Script::kIgnoresTerm;
      break;
    case Script::kDaemon:
      plan.to_stdout = "r";
      plan.leaves = 1;
      break;
    case Script::kMissing:
      plan.start_error = NotFound("start x: not there");
      break;
  }
  return {std::make_unique<FakeExecutor>(plan), ExecRequest{}};
}

INSTANTIATE_TEST_SUITE_P(
    All, ExecutorContract,
    testing::Values(ExecutorParam{"Process", [](Script s) { return MakeProcess(s, true); }},
                    ExecutorParam{"ProcessWithoutCgroup",
                                  [](Script s) { return MakeProcess(s, false); }},
                    ExecutorParam{"Fake", [](Script s) { return MakeFake(s); }}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(MakeExecutor, KindsOfLaterVersionsAreRefusedInWords) {
  ASSERT_TRUE(MakeExecutor(run::ExecutorKind::kProcess).ok());
  ASSERT_TRUE(MakeExecutor(run::ExecutorKind::kContainer).ok());
  auto executor = MakeExecutor(run::ExecutorKind::kSpark);
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(executor.error().message.find("not in this version"), std::string::npos);
}

}  // namespace
}  // namespace tenon::executor
