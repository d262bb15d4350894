// SPDX-License-Identifier: Apache-2.0
#include "launch/direct_launch.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "launch/embedded_runner.h"
#include "launch/fake_launch.h"
#include "launch/runner_of_host.h"
#include "run/layout.h"
#include "transport/fake_host.h"
#include "transport/local_host.h"

namespace tenon::launch {
namespace {

constexpr const char* kHome = "/far/home";

StartRequest MakeRequest() {
  StartRequest request;
  request.spec.key = NewUuid();
  request.spec.id = "proj_1500000000000";
  request.spec.project = "proj";
  request.spec.script = "main.py";
  request.spec.tree = std::string(64, '0');  // not in any store
  request.environment = {{"PATH", "/bin"}, {"ODD", "\xff"}};
  request.secrets = {{"PASSWORD", "hunter2-secret"}};
  request.version = "0.1.0";
  return request;
}

// A host whose runner prints what the test sets.
class ScriptedRunner : public testing::Test {
 protected:
  ScriptedRunner() : hash_(Sha256Of(bytes_).Hex()) {
    path_ = std::string(kHome) + "/bin/tenon-runner-" + hash_.substr(0, 16);
    Answer("tenon-runner 1 0.1.0\n{\"runner\":{\"pid\":7,\"start_ticks\":8,\"boot_id\":\"b\"}}\n");
  }
  void Answer(std::string out, int code = 0, std::string err = "") {
    host_.SetProgram(path_, [=](const transport::FakeHost::Call&) {
      return CaptureResult{{code, 0}, out, err, false};
    });
  }
  RunnerOfHost Make() { return RunnerOfHost(host_, kHome, {bytes_, hash_, ""}); }
  Error StartError() {
    auto started = Make().Start(MakeRequest());
    EXPECT_FALSE(started.ok());
    return started.ok() ? Internal("it worked") : std::move(started).error();
  }

  std::string bytes_ = "the bytes of a runner";
  std::string hash_;
  std::string path_;
  transport::FakeHost host_;
};

TEST_F(ScriptedRunner, TheRunnerIsPutOnceAndExecutable) {
  RunnerOfHost launch = Make();
  auto started = launch.Start(MakeRequest());
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(started->runner.process.pid, 7);
  EXPECT_EQ(started->runner.process.start_ticks, 8u);
  EXPECT_EQ(started->runner.process.boot_id, "b");
  auto first = host_.files().at(path_);
  EXPECT_EQ(first.bytes, bytes_);
  EXPECT_EQ(first.mode & 0777, 0755u);
  ASSERT_TRUE(launch.Start(MakeRequest()).ok());
  ASSERT_TRUE(Make().Start(MakeRequest()).ok());
  EXPECT_EQ(host_.files().at(path_).generation, first.generation);
}

TEST_F(ScriptedRunner, ARunnerOfAnotherSizeIsReplaced) {
  for (std::string wrong : {std::string(""), bytes_ + "x", bytes_.substr(1)}) {
    ASSERT_TRUE(host_.PutFile(path_, wrong, 0755).ok());
    ASSERT_TRUE(Make().Start(MakeRequest()).ok());
    EXPECT_EQ(host_.files().at(path_).bytes, bytes_);
  }
}

TEST_F(ScriptedRunner, SecretsTravelOnStandardInputOnly) {
  ASSERT_TRUE(Make().Start(MakeRequest()).ok());
  ASSERT_EQ(host_.calls().size(), 1u);
  const auto call = host_.calls()[0];
  EXPECT_EQ(call.argv, (std::vector<std::string>{path_, "start"}));
  auto request = json::Parse(call.input);
  ASSERT_TRUE(request.ok());
  const json::Object& object = request->get_object();
  EXPECT_EQ(json::GetInt(object, "protocol"), 1);
  EXPECT_EQ(json::GetString(*json::GetObject(object, "secrets"), "PASSWORD"), "hunter2-secret");
  EXPECT_EQ(json::DecodeBytes(json::GetString(*json::GetObject(object, "environment"), "ODD")),
            "\xff");
  EXPECT_EQ(json::Print(*json::GetObject(object, "spec")).find("hunter2"), std::string::npos);
}

TEST_F(ScriptedRunner, WhatALoginShellPrintsBeforeIsSkipped) {
  Answer("Welcome!\n\ntenon-runner 1 0.1.0\n{\"runner\":{\"pid\":7}}\n");
  EXPECT_TRUE(Make().Start(MakeRequest()).ok());
}

TEST_F(ScriptedRunner, AnotherProtocolIsAClearError) {
  Answer("tenon-runner 2 9.9.9\n{}\n");
  Error newer = StartError();
  EXPECT_EQ(newer.kind, ErrorKind::kInvalid);
  EXPECT_NE(newer.message.find("9.9.9"), std::string::npos);
  EXPECT_FALSE(newer.hint.empty());
  EXPECT_EQ(Make().Cancel({"r", {}, ""}, {}).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Make().Recover("r", {}).error().kind, ErrorKind::kInvalid);
}

TEST_F(ScriptedRunner, TheRunnersErrorIsOurs) {
  Answer(
      "tenon-runner 1 0.1.0\n{\"error\":{\"kind\":\"denied\",\"message\":\"no\",\"hint\":\"h\"}}\n",
      1);
  Error error = StartError();
  EXPECT_EQ(error.kind, ErrorKind::kDenied);
  EXPECT_EQ(error.message, "no");
  EXPECT_EQ(error.hint, "h");
}

TEST_F(ScriptedRunner, NonsenseIsNeverAHandle) {
  Answer("", 126, "bash: cannot execute: Exec format error\n");
  Error silent = StartError();
  EXPECT_EQ(silent.kind, ErrorKind::kUnavailable);
  EXPECT_NE(silent.message.find("Exec format error"), std::string::npos);
  for (const char* out : {"tenon-runner 1 0.1.0\n",
                          "tenon-runner 1 0.1.0\n{\"runner\":", "tenon-runner 1 0.1.0\nhello\n",
                          "tenon-runner 1 0.1.0\n[]\n", "tenon-runner 1 0.1.0\n{}\n",
                          "tenon-runner 1 0.1.0\n{\"runner\":{}}\n"}) {
    Answer(out);
    EXPECT_FALSE(Make().Start(MakeRequest()).ok()) << out;
  }
  Answer("tenon-runner 1 0.1.0\n{\"state\":\"Dancing\"}\n");
  EXPECT_FALSE(Make().Cancel({"r", {}, ""}, {}).ok());
}

TEST_F(ScriptedRunner, ADroppedLinkIsUnavailable) {
  for (int calls = 1; calls < 3; ++calls) {
    host_.DropLink(calls);
    EXPECT_EQ(Make().Start(MakeRequest()).error().kind, ErrorKind::kUnavailable);
    host_.DropLink(0);
  }
  EXPECT_TRUE(Make().Start(MakeRequest()).ok());
}

TEST_F(ScriptedRunner, CancelSendsItsGraceOnlyWhenThereIsOne) {
  Answer("tenon-runner 1 0.1.0\n{\"state\":\"CancelRequested\"}\n");
  EXPECT_EQ(Make().Cancel({"r", 5, "ann"}, {}).value(), run::State::kCancelRequested);
  EXPECT_EQ(Make().Cancel({"r", {}, "ann"}, {}).value(), run::State::kCancelRequested);
  auto with = json::Parse(host_.calls()[0].input), without = json::Parse(host_.calls()[1].input);
  EXPECT_EQ(json::GetInt(with->get_object(), "grace_us"), 5);
  EXPECT_FALSE(without->get_object().contains("grace_us"));
}

// A host that changes the files it is given.
class LyingHost : public transport::FakeHost {
 public:
  Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) override {
    std::string changed(bytes);
    changed[0] ^= 1;
    return FakeHost::PutFile(path, changed, mode);
  }
};

TEST(DirectLaunch, ARunnerThatArrivedDamagedIsNotStarted) {
  LyingHost host;
  std::string bytes = "the bytes of a runner", hash = Sha256Of(bytes).Hex();
  auto started = RunnerOfHost(host, kHome, {bytes, hash, ""}).Start(MakeRequest());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().kind, ErrorKind::kCorrupt);
  EXPECT_TRUE(host.calls().empty());
}

TEST_F(ScriptedRunner, NonsenseAboutEnvironmentsIsAnError) {
  const std::string hello = "tenon-runner 1 0.1.0\n";
  for (const char* answer :
       {"{}", R"({"environments":{}})", R"({"environments":[7]})",
        R"({"environments":[],"kept":[1]})", R"({"environments":[{"runs":"x"}]})",
        R"({"environments":[],"removed":[1]})"}) {
    Answer(hello + answer + "\n");
    EXPECT_FALSE(Make().Environments({}).ok()) << answer;
  }
  Answer(hello + R"({"environments":[],"kept":[{"name":"k","why":"w"}],"bytes_freed":7})" + "\n");
  auto told = Make().Environments({{"k"}, false});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(told->kept.at(0).why, "w");
  EXPECT_EQ(told->bytes_freed, 7u);
  Answer(hello + R"({"removed":"all"})" + "\n");
  EXPECT_FALSE(Make().Sweep({}).ok());
}

// The real runner on this machine.
class RealRunner : public testing::Test {
 protected:
  RealRunner() {
    char name[] = "/tmp/tenon-launch-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    home_ = name;
  }
  ~RealRunner() override { EXPECT_TRUE(RemoveTree(home_).ok()); }
  RunnerOfHost Make() {
    return RunnerOfHost(host_, home_, {EmbeddedRunner(), EmbeddedRunnerHash(), ""});
  }

  std::string home_;
  transport::LocalHost host_;
};

TEST_F(RealRunner, StartRecoverAndCancelAgreeAboutOneRun) {
  RunnerOfHost launch = Make();
  StartRequest request = MakeRequest();
  EXPECT_EQ(launch.Recover(request.spec.id, {}).error().kind, ErrorKind::kNotFound);
  auto started = launch.Start(request);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_GT(started->runner.process.pid, 0);
  EXPECT_EQ(started->runner.process.boot_id, BootId());
  EXPECT_EQ(started->runner.protocol, 1);
  // No store has its tree, so the run ends by itself.
  run::State state = run::State::kStarting;
  for (int i = 0; i < 5000 && !run::IsFinal(state); ++i) {
    auto found = launch.Recover(request.spec.id, {});
    ASSERT_TRUE(found.ok()) << found.error().message;
    state = found->state;
    EXPECT_FALSE(found->recovered);
    ::usleep(1000);
  }
  EXPECT_EQ(state, run::State::kFailed);
  auto again = launch.Start(request);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->runner.process, started->runner.process);
  EXPECT_EQ(launch.Cancel({request.spec.id, {}, "test"}, {}).value(), run::State::kFailed);
  for (int i = 0; i < 5000 && CheckProcess(started->runner.process) == Liveness::kAlive; ++i)
    ::usleep(1000);
  EXPECT_NE(CheckProcess(started->runner.process), Liveness::kAlive);
}

TEST_F(RealRunner, EnvironmentsAreListedAndRemoved) {
  RunnerOfHost launch = Make();
  EXPECT_TRUE(launch.Environments({})->environments.empty());
  const std::string key(32, 'a');
  const std::string folder = run::Home(home_).environment(key);
  run::EnvironmentRecord record;
  record.ready.key = key;
  record.ready.packages = {{"numpy", "1.0", "pypi"}};
  ASSERT_TRUE(MakeDirs(folder + "/prefix/bin").ok());
  ASSERT_TRUE(WriteFileAtomically(folder + "/environment.json", json::Print(record.ToJson()), 0644,
                                  Durability::kProcess)
                  .ok());
  auto listed = launch.Environments({});
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->environments.size(), 1u);
  EXPECT_EQ(listed->environments[0].record.ready.packages, record.ready.packages);
  EXPECT_EQ(launch.Environments({{"../runs"}, false}).error().kind, ErrorKind::kInvalid);
  auto removed = launch.Environments({{key}, false});
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->removed, std::vector<std::string>{key});
  EXPECT_TRUE(removed->environments.empty());
  EXPECT_FALSE(Exists(folder));
}

TEST_F(RealRunner, AnErrorOfTheRunnerComesBackWithItsKind) {
  StartRequest request = MakeRequest();
  request.spec.executor = run::ExecutorKind::kSpark;
  auto started = Make().Start(request);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(started.error().message.find("spark"), std::string::npos);
}

TEST_F(RealRunner, AGivenProgramIsUsedAndNothingIsPut) {
  std::string path = home_ + "/my-runner";
  ASSERT_TRUE(host_.PutFile(path, EmbeddedRunner(), 0755).ok());
  RunnerOfHost launch(host_, home_, {"", "", path});
  EXPECT_EQ(launch.Recover("nothing", {}).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(Exists(home_ + "/bin"));
}

TEST(FakeLaunch, KeepsTheContractOfALaunch) {
  FakeLaunch launch;
  StartRequest request = MakeRequest();
  EXPECT_EQ(launch.Recover(request.spec.id, {}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(launch.Cancel({request.spec.id, {}, ""}, {}).error().kind, ErrorKind::kNotFound);
  auto started = launch.Start(request);
  ASSERT_TRUE(started.ok());
  EXPECT_EQ(launch.Start(request)->runner.process, started->runner.process);
  EXPECT_EQ(launch.starts.size(), 1u);
  EXPECT_EQ(launch.Recover(request.spec.id, {})->state, run::State::kRunning);
  launch.FailNext(Unavailable("gone"));
  EXPECT_EQ(launch.Cancel({request.spec.id, {}, ""}, {}).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(launch.Cancel({request.spec.id, {}, ""}, {}).value(), run::State::kCancelRequested);
  launch.KillRunner(request.spec.id);
  auto found = launch.Recover(request.spec.id, {});
  EXPECT_EQ(found->state, run::State::kFailed);
  EXPECT_TRUE(found->recovered);
  EXPECT_FALSE(launch.Recover(request.spec.id, {})->recovered);
}

TEST(FakeLaunch, KeepsWhatLiveRunsUse) {
  FakeLaunch launch;
  FakeServices services(launch);
  StartRequest request = MakeRequest();
  ASSERT_TRUE(launch.Start(request).ok());
  services.containers = {{"c", request.spec.id}};
  services.environments.resize(2);
  services.environments[0].record.ready.key = "aa";
  services.environments[1].record.ready.key = "bb";
  services.environments[1].in_use = true;
  auto answer = services.Environments({{"aa", "bb"}, false});
  EXPECT_EQ(answer->removed, std::vector<std::string>{"aa"});
  EXPECT_EQ(answer->kept.at(0).name, "bb");
  EXPECT_EQ(services.Sweep({{request.spec.id}, false, false})->kept.at(0).name, "c");
  launch.SetState(request.spec.id, run::State::kCompleted);
  EXPECT_EQ(services.Sweep({{request.spec.id}, false, false})->removed.at(0), "c");
}

}  // namespace
}  // namespace tenon::launch
