// SPDX-License-Identifier: Apache-2.0
#include "engine/host/idle.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/temp_folder.h"
#include "engine/host/fake_machine.h"
#include "launch/fake_launch.h"

namespace tenon::engine {
namespace {

HostRecord Rented(int64_t after_us, const std::string& command) {
  HostRecord host;
  host.target = "my_dsvm";
  host.idle_after_us = after_us;
  host.idle_command = command;
  return host;
}

class IdleTest : public testing::Test {
 protected:
  Machine& At(const HostRecord& host) {
    return machine_.emplace(context_,
                            Machine::Parts{nullptr, &launch_, &services_, run::Home("/far")}, host);
  }
  TempFolder folder_;
  Context context_{run::Home(folder_.path())};
  launch::FakeLaunch launch_;
  launch::FakeServices services_{launch_};
  std::optional<FakeMachine> machine_;
};

TEST_F(IdleTest, NoWatcherIsLeftOnAMachineThatDidNotAskForOne) {
  ASSERT_TRUE(WatchIdleIfAsked(At(Rented(0, ""))).ok());
  ASSERT_TRUE(WatchIdleIfAsked(At(Rented(60'000'000, ""))).ok());
  EXPECT_FALSE(services_.watcher.has_value());
}

TEST_F(IdleTest, ThisMachineIsNeverTurnedOff) {
  FakeMachine here(context_, {nullptr, &launch_, &services_, context_.home});
  ASSERT_TRUE(WatchIdleIfAsked(here).ok());
  EXPECT_FALSE(services_.watcher.has_value());
}

TEST_F(IdleTest, TheWatcherGetsTheTargetsTimeAndCommand) {
  ASSERT_TRUE(WatchIdleIfAsked(At(Rented(1'800'000'000, "sudo poweroff"))).ok());
  ASSERT_TRUE(services_.watcher.has_value());
  EXPECT_EQ(services_.watcher->after_us, 1'800'000'000);
  EXPECT_EQ(services_.watcher->command, "sudo poweroff");
  EXPECT_FALSE(services_.watcher->stop);
}

TEST_F(IdleTest, AHostThatRefusesIsNamed) {
  launch_.FailNext(Unavailable("the link is gone"));
  const auto asked = WatchIdleIfAsked(At(Rented(60'000'000, "true")));
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(asked.error().message.find("my_dsvm"), std::string::npos);
}

TEST(IdleWordsTest, SaysThatNothingTurnsItOff) {
  EXPECT_EQ(IdleWords(Rented(0, ""), {}), "my_dsvm is still on; nothing turns it off");
}

TEST(IdleWordsTest, AMachineWithAnotherRunIsNotCalledIdle) {
  EXPECT_EQ(IdleWords(Rented(0, ""), {"the run p_1 goes on", "the run p_2 goes on"}),
            "my_dsvm is still on: the run p_1 goes on and 1 more; nothing turns it off");
}

TEST(IdleWordsTest, SaysWhatTurnsItOffAndWhen) {
  EXPECT_EQ(IdleWords(Rented(1'800'000'000, "sudo poweroff"), {}),
            "my_dsvm is still on; it will run `sudo poweroff` after 30 min idle");
  EXPECT_EQ(ShortDuration(90'000'000), "90 s");
  EXPECT_EQ(ShortDuration(7'200'000'000), "2 h");
}

}  // namespace
}  // namespace tenon::engine
