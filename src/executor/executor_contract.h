// SPDX-License-Identifier: Apache-2.0
// What every Executor promises, as tests.
#ifndef TENON_EXECUTOR_EXECUTOR_CONTRACT_H_
#define TENON_EXECUTOR_EXECUTOR_CONTRACT_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "executor/executor.h"

namespace tenon::executor {

// Scripts every executor must be able to run.
enum class Script {
  kHello,        // writes "hello" and "oops" to its two streams, exits with 3
  kForEver,      // runs until a signal ends it
  kIgnoresTerm,  // runs until SIGKILL
  kDaemon,       // exits with 0 at once and leaves a process behind
  kMissing,      // can't be started
};

struct ExecutorParam {
  std::string name;
  // An executor and the request that makes it run the script.
  std::function<std::pair<std::unique_ptr<Executor>, ExecRequest>(Script)> make;
};

class ExecutorContract : public testing::TestWithParam<ExecutorParam> {
 protected:
  void Make(Script script) {
    std::tie(executor_, request_) = GetParam().make(script);
    request_.run_key = NewUuid();
    int out[2], err[2];
    ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(err, O_CLOEXEC), 0);
    out_.Reset(out[0]);
    err_.Reset(err[0]);
    out_write_.Reset(out[1]);
    err_write_.Reset(err[1]);
    request_.stdout_fd = out[1];
    request_.stderr_fd = err[1];
  }
  void Start(Script script) {
    Make(script);
    auto pid = executor_->Start(request_);
    ASSERT_TRUE(pid.ok()) << pid.error().message;
    EXPECT_EQ(executor_->pid(), *pid);
    out_write_.Reset();
    err_write_.Reset();
  }
  void TearDown() override {
    if (executor_ && executor_->pid() != 0) {
      executor_->EndAll(true);
      Await([&] { return executor_->Reap(), executor_->CountLeft() == 0; });
    }
  }
  // Looks again and again, for at most 20 s.
  static bool Await(const std::function<bool()>& condition) {
    int64_t deadline = SystemClock().MonotonicUs() + 20'000'000;
    while (!condition()) {
      if (SystemClock().MonotonicUs() > deadline) return false;
      ::usleep(1000);
    }
    return true;
  }
  std::optional<Exit> AwaitExit() {
    std::optional<Exit> exit;
    Await([&] { return (exit = executor_->Reap()).has_value(); });
    return exit;
  }
  // Waits for the "ready" of a script that runs on.
  void AwaitReady() {
    char byte;
    ASSERT_EQ(::read(out_.get(), &byte, 1), 1);
  }
  static std::string ReadAll(int fd) {
    std::string text;
    char piece[4096];
    for (ssize_t n; (n = ::read(fd, piece, sizeof piece)) > 0;) text.append(piece, n);
    return text;
  }

  std::unique_ptr<Executor> executor_;
  ExecRequest request_;
  UniqueFd out_, err_, out_write_, err_write_;
};

TEST_P(ExecutorContract, StreamsAreKeptApartAndTheExitCodeIsTheScripts) {
  Start(Script::kHello);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 3);
  EXPECT_EQ(exit->status.signal, 0);
  EXPECT_GT(exit->peak_rss_bytes, 0);
  if (out_write_.valid()) out_write_.Reset();
  EXPECT_EQ(ReadAll(out_.get()), "hello");
  EXPECT_EQ(ReadAll(err_.get()), "oops");
}

TEST_P(ExecutorContract, TheEndIsToldOnce) {
  Start(Script::kHello);
  ASSERT_TRUE(AwaitExit().has_value());
  EXPECT_FALSE(executor_->Reap().has_value());
  EXPECT_EQ(executor_->CountLeft(), 0);
}

TEST_P(ExecutorContract, AScriptThatCannotStartIsAnError) {
  Make(Script::kMissing);
  auto pid = executor_->Start(request_);
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(executor_->pid(), 0);
  EXPECT_EQ(executor_->CountLeft(), 0);
}

TEST_P(ExecutorContract, TermEndsAScriptThatDoesNotMind) {
  Start(Script::kForEver);
  AwaitReady();
  EXPECT_EQ(executor_->CountLeft(), 1);
  EXPECT_FALSE(executor_->Reap().has_value());
  executor_->Signal(SIGTERM);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGTERM);
}

TEST_P(ExecutorContract, EndAllEndsAScriptThatIgnoresTerm) {
  Start(Script::kIgnoresTerm);
  AwaitReady();
  executor_->Signal(SIGTERM);
  EXPECT_FALSE(executor_->Reap().has_value());
  run::Proof proof = executor_->EndAll(true);
  EXPECT_EQ(proof.left, 0);
  EXPECT_EQ(proof.ended, 1);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGKILL);
}

TEST_P(ExecutorContract, ADaemonIsCountedAndEnded) {
  Start(Script::kDaemon);
  AwaitReady();
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.AsShell(), 0);
  EXPECT_EQ(executor_->CountLeft(), 1);
  run::Proof proof = executor_->EndAll(true);
  EXPECT_EQ(proof.ended, 1);
  EXPECT_EQ(proof.left, 0);
  EXPECT_EQ(executor_->CountLeft(), 0);
}

TEST_P(ExecutorContract, EndAllWithNobodyLeftEndsNobody) {
  Start(Script::kHello);
  ASSERT_TRUE(AwaitExit().has_value());
  for (bool thorough : {false, true}) {
    run::Proof proof = executor_->EndAll(thorough);
    EXPECT_EQ(proof.ended, 0);
    EXPECT_EQ(proof.left, 0);
    EXPECT_FALSE(proof.method.empty());
  }
}

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_EXECUTOR_CONTRACT_H_
