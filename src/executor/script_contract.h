// SPDX-License-Identifier: Apache-2.0
// Tests of what every Script promises.
#ifndef TENON_EXECUTOR_SCRIPT_CONTRACT_H_
#define TENON_EXECUTOR_SCRIPT_CONTRACT_H_

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
#include "executor/process_script.h"

namespace tenon::executor {

// What the script under test does.
enum class Play {
  kHello,        // writes "hello" and "oops" to its two streams, exits with 3
  kForEver,      // writes a byte, runs until a signal ends it
  kIgnoresTerm,  // the same, until SIGKILL
  kDaemon,       // exits with 0 at once and leaves a process behind, which writes a byte
  kMissing,      // can't be started
};

struct ScriptParam {
  struct Made {
    std::unique_ptr<Script> script;
    // Uses only the descriptors of the request.
    std::function<Result<pid_t>(ProcessRequest)> start;
  };
  std::string name;
  std::function<Made(Play)> make;
};

class ScriptContract : public testing::TestWithParam<ScriptParam> {
 protected:
  Result<pid_t> TryToStart(Play play) {
    auto [script, start] = GetParam().make(play);
    script_ = std::move(script);
    int out[2], err[2];
    TENON_CHECK(::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(err, O_CLOEXEC) == 0);
    out_.Reset(out[0]);
    err_.Reset(err[0]);
    const UniqueFd out_write(out[1]), err_write(err[1]);
    ProcessRequest request;
    request.stdout_fd = out[1];
    request.stderr_fd = err[1];
    return start(std::move(request));
  }
  void Start(Play play) {
    auto pid = TryToStart(play);
    ASSERT_TRUE(pid.ok()) << pid.error().message;
    started_ = true;
  }
  void TearDown() override {
    if (started_) {
      script_->EndAll(true);
      Await([&] { return script_->Reap(), script_->CountLeft() == 0; });
    }
  }
  // Asks again and again until `condition` holds, for at most 20 s.
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
    Await([&] { return (exit = script_->Reap()).has_value(); });
    return exit;
  }
  // Waits for the byte that a script which runs on writes first.
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

  std::unique_ptr<Script> script_;
  bool started_ = false;
  UniqueFd out_, err_;
};

TEST_P(ScriptContract, StreamsAreKeptApartAndTheExitCodeIsTheScripts) {
  Start(Play::kHello);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.code, 3);
  EXPECT_EQ(exit->status.signal, 0);
  EXPECT_GT(exit->peak_rss_bytes, 0);
  EXPECT_EQ(ReadAll(out_.get()), "hello");
  EXPECT_EQ(ReadAll(err_.get()), "oops");
}

TEST_P(ScriptContract, TheEndIsToldOnce) {
  Start(Play::kHello);
  ASSERT_TRUE(AwaitExit().has_value());
  EXPECT_FALSE(script_->Reap().has_value());
  EXPECT_EQ(script_->CountLeft(), 0);
}

TEST_P(ScriptContract, AScriptThatCannotStartIsAnError) {
  auto pid = TryToStart(Play::kMissing);
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(script_->Reap().has_value());
  EXPECT_EQ(script_->CountLeft(), 0);
}

TEST_P(ScriptContract, TermEndsAScriptThatDoesNotMind) {
  Start(Play::kForEver);
  AwaitReady();
  EXPECT_EQ(script_->CountLeft(), 1);
  EXPECT_FALSE(script_->Reap().has_value());
  script_->Signal(SIGTERM);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGTERM);
}

TEST_P(ScriptContract, EndAllEndsAScriptThatIgnoresTerm) {
  Start(Play::kIgnoresTerm);
  AwaitReady();
  script_->Signal(SIGTERM);
  EXPECT_FALSE(script_->Reap().has_value());
  run::Proof proof = script_->EndAll(true);
  EXPECT_EQ(proof.left, 0);
  EXPECT_EQ(proof.ended, 1);
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.signal, SIGKILL);
}

TEST_P(ScriptContract, ADaemonIsCountedAndEnded) {
  Start(Play::kDaemon);
  AwaitReady();
  auto exit = AwaitExit();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->status.AsShell(), 0);
  EXPECT_EQ(script_->CountLeft(), 1);
  run::Proof proof = script_->EndAll(true);
  EXPECT_EQ(proof.ended, 1);
  EXPECT_EQ(proof.left, 0);
  EXPECT_EQ(script_->CountLeft(), 0);
}

TEST_P(ScriptContract, EndAllWithNobodyLeftEndsNobody) {
  Start(Play::kHello);
  ASSERT_TRUE(AwaitExit().has_value());
  for (bool thorough : {false, true}) {
    run::Proof proof = script_->EndAll(thorough);
    EXPECT_EQ(proof.ended, 0);
    EXPECT_EQ(proof.left, 0);
    EXPECT_FALSE(proof.method.empty());
  }
}

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SCRIPT_CONTRACT_H_
