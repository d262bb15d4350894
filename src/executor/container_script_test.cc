// SPDX-License-Identifier: Apache-2.0
// Tests against a fake engine; tests/e2e has those against a real one.
#include "executor/container_script.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "docker/fake_engine.h"

namespace tenon::executor {
namespace {

using docker::FakeAnswer;
using docker::FakeEngine;
using docker::FakeRequest;

std::string Inspect(const std::string& status, int code, bool oom = false,
                    const std::string& error = "") {
  return R"({"Id":"c1","Name":"/tenon-r","Image":"sha256:1","Config":{"Labels":{}},"State":{"Status":")" +
         status + R"(","Running":)" + (status == "running" ? "true" : "false") +
         R"(,"Pid":0,"ExitCode":)" + std::to_string(code) + R"(,"OOMKilled":)" +
         (oom ? "true" : "false") + R"(,"Error":")" + error + "\"}}";
}

// An Init whose answers the test sets.
struct FakeInit : Init {
  bool IsGone() const override { return gone; }
  Word Read() const override { return word; }
  bool gone = false;
  Word word;
};

// A container whose state the test sets.
class ContainerScriptTest : public testing::Test {
 protected:
  ContainerScriptTest() : engine_([this](const FakeRequest& request) { return Answer(request); }) {
    clock_.Advance(1'000'000);
    made_.id = "c1";
    made_.name = "tenon-r";
    made_.socket = engine_.socket();
  }

  FakeAnswer Answer(const FakeRequest& request) {
    std::lock_guard lock(mutex_);
    asked_.push_back(request.method + " " + request.path);
    if (request.path == "/containers/c1/json") {
      if (gone_) return {.status = 404, .body = R"({"message":"No such container: c1"})"};
      return {.body = state_};
    }
    if (request.path == "/containers/c1/wait") return {.body = R"({"StatusCode":0})"};
    if (request.path == "/containers/c1/kill") {
      if (dies_of_kill_) state_ = Inspect("exited", 137);
      return {.status = 204};
    }
    if (request.method == "DELETE") {
      gone_ = true;
      return {.status = 204};
    }
    return {.status = 0};
  }
  void Set(const std::string& state) {
    std::lock_guard lock(mutex_);
    state_ = state;
  }
  bool Asked(const std::string& line) {
    std::lock_guard lock(mutex_);
    return std::find(asked_.begin(), asked_.end(), line) != asked_.end();
  }

  std::mutex mutex_;
  std::string state_ = Inspect("running", 0);
  bool gone_ = false;
  bool dies_of_kill_ = true;
  std::vector<std::string> asked_;
  FakeInit init_;
  bool keep_on_fail_ = false;
  FakeClock clock_;
  FakeEngine engine_;
  run::ContainerMade made_;
};

TEST_F(ContainerScriptTest, AnAdoptedContainerThatHasEndedIsToldOnce) {
  Set(Inspect("exited", 3));
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 3);
  EXPECT_NE(exit->remark.find("ended from outside"), std::string::npos);
  EXPECT_FALSE(script.Reap().has_value());
}

TEST_F(ContainerScriptTest, RemovedBySomeoneElseIsAReasonNotAnExitCode) {
  {
    std::lock_guard lock(mutex_);
    gone_ = true;
  }
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_NE(exit->status.AsShell(), 0);
  EXPECT_NE(exit->remark.find("removed by someone else"), std::string::npos);
}

TEST_F(ContainerScriptTest, OneThatWasNeverStartedHasNotCompleted) {
  Set(Inspect("created", 0));
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 125);
}

TEST_F(ContainerScriptTest, OutOfMemoryIsTheEnginesWord) {
  Set(Inspect("exited", 137, /*oom=*/true));
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGKILL);
  EXPECT_TRUE(exit->out_of_memory);
  EXPECT_EQ(exit->remark, "");
}

TEST_F(ContainerScriptTest, AnEngineThatIsAwayIsNoEndOfTheRun) {
  run::ContainerMade elsewhere = made_;
  elsewhere.socket += ".gone";
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(elsewhere);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(script.Reap().has_value());
  EXPECT_EQ(script.event_fd(), -1);
}

TEST_F(ContainerScriptTest, ALostEngineAndAGoneInitAreTheEndAfterAMinute) {
  run::ContainerMade elsewhere = made_;
  elsewhere.socket += ".gone";
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(elsewhere);
  init_.gone = true;
  EXPECT_FALSE(script.Reap().has_value());
  clock_.Advance(59'000'000);
  EXPECT_FALSE(script.Reap().has_value());
  clock_.Advance(2'000'000);
  const auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGKILL);
  EXPECT_NE(exit->remark.find("the engine does not answer"), std::string::npos);
  const run::Proof proof = script.EndAll(false);
  EXPECT_EQ(proof.left, 0);
  EXPECT_NE(proof.remark.find("could not be asked"), std::string::npos);
}

TEST_F(ContainerScriptTest, TheInitsWordCountsMoreThanTheEngines) {
  Set(Inspect("exited", 3));
  init_.word.ended.emplace();
  init_.word.ended->exit_code = 7;
  init_.word.ended->leftovers = 2;
  init_.word.ended->start_us = 11;
  init_.word.ended->duration_us = 12;
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  const auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 7);
  EXPECT_EQ(exit->leftovers, 2);
  EXPECT_EQ(exit->start_us, 11);
  EXPECT_EQ(exit->duration_us, 12);
  EXPECT_EQ(exit->remark, "");
}

TEST_F(ContainerScriptTest, OneThatIsKeptForLookingAtHasEndedAndIsLeftAlone) {
  keep_on_fail_ = true;
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  init_.word.ended.emplace();
  init_.word.ended->exit_code = 1;
  EXPECT_FALSE(script.Reap().has_value()) << "its init still writes";
  init_.gone = true;
  const auto exit = script.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_TRUE(exit->kept);
  EXPECT_EQ(exit->status.code, 1);
  EXPECT_EQ(script.EndAll(true).left, 1);
  EXPECT_FALSE(Asked("POST /containers/c1/kill"));
}

TEST_F(ContainerScriptTest, OneThatWasAskedToEndIsNotKept) {
  keep_on_fail_ = true;
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  script.Signal(SIGTERM);
  init_.gone = true;
  init_.word.ended.emplace();
  init_.word.ended->exit_code = 1;
  Set(Inspect("exited", 1));
  clock_.Advance(2'000'000);
  std::optional<Exit> exit;
  while (!exit) exit = script.Reap();
  EXPECT_FALSE(exit->kept);
}

TEST_F(ContainerScriptTest, EndAllKillsOnceAndSaysThatNobodyIsLeft) {
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  const run::Proof proof = script.EndAll(true);
  EXPECT_EQ(proof.method, "container");
  EXPECT_EQ(proof.ended, 1);
  EXPECT_EQ(proof.left, 0);
  EXPECT_TRUE(Asked("POST /containers/c1/kill"));
  EXPECT_TRUE(script.Remove(made_).ok());
  EXPECT_TRUE(Asked("DELETE /containers/c1"));
  EXPECT_TRUE(script.Remove(made_).ok()) << "not there any more: nothing happens";
}

TEST_F(ContainerScriptTest, AContainerThatWasNeverStartedIsRemovedAllTheSame) {
  ContainerScript script(init_, keep_on_fail_, clock_);
  EXPECT_TRUE(script.Remove(made_).ok());
  EXPECT_TRUE(Asked("DELETE /containers/c1"));
  run::ContainerMade elsewhere = made_;
  elsewhere.socket += ".gone";
  ContainerScript away(init_, false);
  EXPECT_FALSE(away.Remove(elsewhere).ok()) << "it may still be there";
}

TEST_F(ContainerScriptTest, EndAllOfAnEndedContainerKillsNothing) {
  Set(Inspect("exited", 0));
  ContainerScript script(init_, keep_on_fail_, clock_);
  script.Adopt(made_);
  const run::Proof proof = script.EndAll(false);
  EXPECT_EQ(proof.ended, 0);
  EXPECT_EQ(proof.left, 0);
  EXPECT_FALSE(Asked("POST /containers/c1/kill"));
}

}  // namespace
}  // namespace tenon::executor
