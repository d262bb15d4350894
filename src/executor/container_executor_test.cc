// SPDX-License-Identifier: Apache-2.0
// Against an engine made of answers; a real one is tests/e2e's affair.
#include "executor/container_executor.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <string>

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

// A container whose state the test sets.
class ContainerExecutorTest : public testing::Test {
 protected:
  ContainerExecutorTest()
      : engine_([this](const FakeRequest& request) { return Answer(request); }) {
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
  FakeEngine engine_;
  run::ContainerMade made_;
};

TEST_F(ContainerExecutorTest, AnAdoptedContainerThatHasEndedIsToldOnce) {
  Set(Inspect("exited", 3));
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  auto exit = executor.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 3);
  EXPECT_NE(exit->remark.find("ended from outside"), std::string::npos);
  EXPECT_FALSE(executor.Reap().has_value());
}

TEST_F(ContainerExecutorTest, RemovedBySomeoneElseIsAReasonNotAnExitCode) {
  {
    std::lock_guard lock(mutex_);
    gone_ = true;
  }
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  auto exit = executor.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_NE(exit->status.AsShell(), 0);
  EXPECT_NE(exit->remark.find("removed by someone else"), std::string::npos);
}

TEST_F(ContainerExecutorTest, OneThatWasNeverStartedHasNotCompleted) {
  Set(Inspect("created", 0));
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  auto exit = executor.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 125);
}

TEST_F(ContainerExecutorTest, OutOfMemoryIsTheEnginesWord) {
  Set(Inspect("exited", 137, /*oom=*/true));
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  auto exit = executor.Reap();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGKILL);
  EXPECT_TRUE(exit->out_of_memory);
  EXPECT_EQ(exit->remark, "");
}

TEST_F(ContainerExecutorTest, AnEngineThatIsAwayIsNoEndOfTheRun) {
  run::ContainerMade elsewhere = made_;
  elsewhere.socket += ".gone";
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(elsewhere).ok());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(executor.Reap().has_value());
  EXPECT_EQ(executor.event_fd(), -1);
}

TEST_F(ContainerExecutorTest, EndAllKillsOnceAndSaysThatNobodyIsLeft) {
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  const run::Proof proof = executor.EndAll(true);
  EXPECT_EQ(proof.method, "container");
  EXPECT_EQ(proof.ended, 1);
  EXPECT_EQ(proof.left, 0);
  EXPECT_TRUE(Asked("POST /containers/c1/kill"));
  EXPECT_TRUE(executor.Release(made_).ok());
  EXPECT_TRUE(Asked("DELETE /containers/c1"));
  EXPECT_TRUE(executor.Release(made_).ok()) << "not there any more: nothing happens";
}

TEST_F(ContainerExecutorTest, AContainerThatWasNeverStartedIsRemovedAllTheSame) {
  ContainerExecutor executor;
  EXPECT_TRUE(executor.Release(made_).ok());
  EXPECT_TRUE(Asked("DELETE /containers/c1"));
  run::ContainerMade elsewhere = made_;
  elsewhere.socket += ".gone";
  ContainerExecutor away;
  EXPECT_FALSE(away.Release(elsewhere).ok()) << "it may still be there";
}

TEST_F(ContainerExecutorTest, EndAllOfAnEndedContainerKillsNothing) {
  Set(Inspect("exited", 0));
  ContainerExecutor executor;
  ASSERT_TRUE(executor.Adopt(made_).ok());
  const run::Proof proof = executor.EndAll(false);
  EXPECT_EQ(proof.ended, 0);
  EXPECT_EQ(proof.left, 0);
  EXPECT_FALSE(Asked("POST /containers/c1/kill"));
}

}  // namespace
}  // namespace tenon::executor
