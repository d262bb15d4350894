// SPDX-License-Identifier: Apache-2.0
// The promises of every Launch, as tests.
#ifndef TENON_LAUNCH_LAUNCH_CONTRACT_H_
#define TENON_LAUNCH_LAUNCH_CONTRACT_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "launch/launch.h"
#include "run/described.h"
#include "run/members.h"

namespace tenon::launch {

// A launch and the world that it acts on.
class LaunchWorld {
 public:
  virtual ~LaunchWorld() = default;
  virtual Launch& launch() = 0;
  // Returns a request for a run that goes on until something ends it.
  virtual StartRequest Request() = 0;
  // The runner of the run disappears and records nothing.
  virtual void Vanish(const std::string& run_id) = 0;
  // Called while a test waits for an end. A fake ends the run here if it was asked to.
  virtual void GoOn(const std::string& /*run_id*/) {}
};

struct LaunchParam {
  std::string name;
  std::function<std::unique_ptr<LaunchWorld>()> make;
};

class LaunchContract : public testing::TestWithParam<LaunchParam> {
 protected:
  Started MustStart() {
    auto started = launch_.Start(request_);
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    return started.ok() ? *started : Started();
  }
  // Calls Recover() until the run has ended, for at most 60 s.
  run::Recovered AwaitEnd(const run::LaunchHandle& handle) {
    const int64_t deadline = SystemClock().MonotonicUs() + 60'000'000;
    for (;;) {
      world_->GoOn(id_);
      auto found = launch_.Recover(id_, handle);
      EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
      const bool late = SystemClock().MonotonicUs() > deadline;
      if (!found.ok() || late || run::IsFinal(found->state)) {
        EXPECT_FALSE(late);
        return found.ok() ? *found : run::Recovered();
      }
      ::usleep(1000);
    }
  }

  std::unique_ptr<LaunchWorld> world_ = GetParam().make();
  Launch& launch_ = world_->launch();
  StartRequest request_ = world_->Request();
  const std::string& id_ = request_.spec.id;
};

TEST_P(LaunchContract, ARunThatNobodyStartedIsNotFound) {
  EXPECT_EQ(launch_.Recover(id_, {}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(launch_.Cancel({id_, {}, "ann"}, {}).error().kind, ErrorKind::kNotFound);
}

TEST_P(LaunchContract, ASecondStartStartsNothing) {
  const Started first = MustStart(), second = MustStart();
  EXPECT_EQ(first.handle, second.handle);
  EXPECT_EQ(first.runner.process, second.runner.process);
  (void)launch_.Cancel({id_, 0, "ann"}, first.handle).ok();
  AwaitEnd(first.handle);
}

TEST_P(LaunchContract, ARunThatGoesOnIsLeftAlone) {
  const Started started = MustStart();
  for (int i = 0; i < 3; ++i) {
    const auto found = launch_.Recover(id_, started.handle);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(run::IsFinal(found->state));
    EXPECT_FALSE(found->recovered);
  }
  (void)launch_.Cancel({id_, 0, "ann"}, started.handle).ok();
  AwaitEnd(started.handle);
}

TEST_P(LaunchContract, ACanceledRunEndsAndStaysAsItEnded) {
  const Started started = MustStart();
  const auto asked = launch_.Cancel({id_, 0, "ann"}, started.handle);
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  EXPECT_TRUE(*asked == run::State::kCancelRequested || run::IsFinal(*asked));
  EXPECT_EQ(AwaitEnd(started.handle).state, run::State::kCanceled);
  EXPECT_EQ(launch_.Cancel({id_, 0, "ann"}, started.handle).value(), run::State::kCanceled);
  EXPECT_FALSE(launch_.Recover(id_, started.handle)->recovered);
  // Another start does not bring it back.
  MustStart();
  EXPECT_TRUE(run::IsFinal(launch_.Recover(id_, started.handle)->state));
}

TEST_P(LaunchContract, ARunThatVanishedGetsItsEndOnce) {
  const Started started = MustStart();
  world_->Vanish(id_);
  const run::Recovered found = AwaitEnd(started.handle);
  EXPECT_EQ(found.state, run::State::kFailed);
  EXPECT_TRUE(found.recovered);
  EXPECT_FALSE(launch_.Recover(id_, started.handle)->recovered);
}

TEST_P(LaunchContract, AHandleThatWasReadBackFindsTheRun) {
  const Started started = MustStart();
  const auto again =
      run::FromJsonObject<run::HandedOver>(run::ToJsonObject(run::HandedOver{started.handle}));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(launch_.Recover(id_, again->handle).ok());
  (void)launch_.Cancel({id_, 0, "ann"}, again->handle).ok();
  AwaitEnd(again->handle);
}

TEST_P(LaunchContract, WithoutItsHandleARunIsFoundOrMayBeLater) {
  const Started started = MustStart();
  const auto found = launch_.Recover(id_, {});
  EXPECT_TRUE(found.ok() || found.error().kind == ErrorKind::kUnavailable);
  EXPECT_FALSE(found.ok() && run::IsFinal(found->state));
  (void)launch_.Cancel({id_, 0, "ann"}, started.handle).ok();
  AwaitEnd(started.handle);
}

inline std::string LaunchName(const testing::TestParamInfo<LaunchParam>& info) {
  return info.param.name;
}

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_LAUNCH_CONTRACT_H_
