// SPDX-License-Identifier: Apache-2.0
#include "executor/script.h"

#include "executor/fake_script.h"
#include "executor/process_script.h"
#include "executor/script_contract.h"

namespace tenon::executor {
namespace {

std::vector<std::string> ShellFor(Play play) {
  switch (play) {
    case Play::kHello:
      return {"sh", "-c", "printf hello; printf oops >&2; exit 3"};
    case Play::kForEver:
      return {"sh", "-c", "printf r; exec sleep 600"};
    case Play::kIgnoresTerm:
      return {"sh", "-c", "trap '' TERM; printf r; exec sleep 600"};
    case Play::kDaemon:
      // Twice forked, in a session of its own, without the mark in its environment.
      return {"sh", "-c", "env -i /bin/sh -c 'setsid sh -c \"printf r; exec sleep 600\" &'"};
    case Play::kMissing:
      break;
  }
  return {"/no/such/program"};
}

template <typename T>
ScriptParam::Made Started(std::unique_ptr<T> script, ProcessRequest asked) {
  T* raw = script.get();
  auto start = [raw, asked](ProcessRequest request) {
    request.argv = asked.argv;
    request.env = asked.env;
    auto pid = raw->Start(request);
    EXPECT_EQ(raw->pid(), pid.ok() ? *pid : 0);
    return pid;
  };
  return {std::move(script), start};
}

ScriptParam::Made MakeProcess(Play play, bool cgroup) {
  auto script = std::make_unique<ProcessScript>(NewUuid());
  if (!cgroup) script->DisableCgroup();
  ProcessRequest request;
  request.argv = ShellFor(play);
  request.env = CurrentEnvironment();
  return Started(std::move(script), std::move(request));
}

ScriptParam::Made MakeFake(Play play) {
  FakeScript::Plan plan;
  switch (play) {
    case Play::kHello:
      plan.to_stdout = "hello";
      plan.to_stderr = "oops";
      plan.status = {3, 0};
      break;
    case Play::kForEver:
    case Play::kIgnoresTerm:
      plan.to_stdout = "r";
      plan.runs_us = -1;
      plan.ignores_term = play == Play::kIgnoresTerm;
      break;
    case Play::kDaemon:
      plan.to_stdout = "r";
      plan.leaves = 1;
      break;
    case Play::kMissing:
      plan.start_error = NotFound("start x: not there");
      break;
  }
  return Started(std::make_unique<FakeScript>(plan), {});
}

INSTANTIATE_TEST_SUITE_P(
    All, ScriptContract,
    testing::Values(ScriptParam{"Process", [](Play play) { return MakeProcess(play, true); }},
                    ScriptParam{"ProcessWithoutCgroup",
                                [](Play play) { return MakeProcess(play, false); }},
                    ScriptParam{"Fake", [](Play play) { return MakeFake(play); }}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace tenon::executor
