// SPDX-License-Identifier: Apache-2.0
#include "base/poll_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>

#include "base/clock.h"
#include "base/process.h"

namespace tenon {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read.Reset(ends[0]);
    write.Reset(ends[1]);
  }
  void Ring() { EXPECT_EQ(::write(write.get(), "x", 1), 1); }
  void Drain() {
    char buffer[16];
    EXPECT_GT(::read(read.get(), buffer, sizeof buffer), 0);
  }
  UniqueFd read, write;
};

bool IsBlocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(PollLoopTest, DescriptorsAreServedInTheOrderTheyWereAdded) {
  PollLoop loop;
  Pipe a, b, c;
  std::string order;
  loop.AddFd(c.read.get(), [&] { order += 'c'; });
  loop.AddFd(a.read.get(), [&] { order += 'a'; });
  loop.AddFd(b.read.get(), [&] { order += 'b'; });
  b.Ring();
  a.Ring();
  c.Ring();
  loop.RunOnce(-1);
  EXPECT_EQ(order, "cab");
  c.Drain();
  loop.RunOnce(-1);
  EXPECT_EQ(order, "cabab");
}

TEST(PollLoopTest, ACallbackMayRemoveItself) {
  PollLoop loop;
  Pipe a, b;
  int calls = 0;
  std::string kept = "what the callback holds";
  loop.AddFd(a.read.get(), [&loop, &a, &calls, kept] {
    loop.RemoveFd(a.read.get());
    calls += kept == "what the callback holds";  // still alive after its removal
  });
  loop.AddFd(b.read.get(), [&] { calls += 10; });
  a.Ring();
  b.Ring();
  loop.RunOnce(-1);
  EXPECT_EQ(calls, 11);
  loop.RunOnce(0);
  EXPECT_EQ(calls, 21);
}

TEST(PollLoopTest, ADescriptorRemovedByAnEarlierCallbackIsNotServed) {
  PollLoop loop;
  Pipe a, b;
  bool served = false;
  loop.AddFd(a.read.get(), [&] { loop.RemoveFd(b.read.get()); });
  loop.AddFd(b.read.get(), [&] { served = true; });
  a.Ring();
  b.Ring();
  loop.RunOnce(-1);
  EXPECT_FALSE(served);
}

// The new owner of a descriptor number must not be called because the old one was ready. Its
// callback may do a blocking read, which would hang for ever.
TEST(PollLoopTest, AReusedDescriptorNumberIsNotServedForItsPredecessor) {
  PollLoop loop;
  Pipe a, b;
  bool served = false;
  int number = b.read.get();
  UniqueFd reused;
  Pipe quiet;
  loop.AddFd(a.read.get(), [&] {
    loop.RemoveFd(number);
    b.read.Reset();
    reused.Reset(::fcntl(quiet.read.get(), F_DUPFD_CLOEXEC, number));
    ASSERT_EQ(reused.get(), number);
    loop.AddFd(number, [&] { served = true; });
  });
  loop.AddFd(number, [&] { served = true; });
  a.Ring();
  b.Ring();
  loop.RunOnce(-1);
  EXPECT_FALSE(served);
  a.Drain();
  loop.RunOnce(0);
  EXPECT_FALSE(served);
  quiet.Ring();
  loop.RunOnce(0);
  EXPECT_TRUE(served);
}

TEST(PollLoopTest, ACallbackMayAddManyDescriptors) {
  PollLoop loop;
  Pipe a;
  std::vector<Pipe> more(50);
  int calls = 0;
  loop.AddFd(a.read.get(), [&] {
    a.Drain();
    for (Pipe& pipe : more) {
      pipe.Ring();
      loop.AddFd(pipe.read.get(), [&] { ++calls; });
    }
  });
  a.Ring();
  loop.RunOnce(-1);
  EXPECT_EQ(calls, 0);
  loop.RunOnce(-1);
  EXPECT_EQ(calls, 50);
}

TEST(PollLoopTest, AHangUpIsReady) {
  PollLoop loop;
  Pipe a;
  bool served = false;
  loop.AddFd(a.read.get(), [&] { served = true; });
  a.write.Reset();
  loop.RunOnce(-1);
  EXPECT_TRUE(served);
}

TEST(PollLoopTest, TimersFireOnceInOrderOfTimeAndNotEarly) {
  PollLoop loop;
  std::string order;
  int64_t start = SystemClock().MonotonicUs();
  loop.AddTimer(20'000, [&] {
    order += 'b';
    EXPECT_GE(SystemClock().MonotonicUs() - start, 20'000);
    loop.Stop();
  });
  loop.AddTimer(5'000, [&] { order += 'a'; });
  loop.Run();
  EXPECT_EQ(order, "ab");
  loop.RunOnce(0);
  EXPECT_EQ(order, "ab");
}

TEST(PollLoopTest, ATimerRemovedByAnotherDoesNotFire) {
  PollLoop loop;
  bool fired = false;
  PollLoop::TimerId second = 0;
  loop.AddTimer(0, [&] { loop.RemoveTimer(second); });
  second = loop.AddTimer(0, [&] { fired = true; });
  loop.RunOnce(0);
  loop.RunOnce(0);
  EXPECT_FALSE(fired);
  loop.RemoveTimer(second);
  loop.RemoveTimer(12345);
}

TEST(PollLoopTest, ATimerThatStartsItselfAgainDoesNotStarveDescriptors) {
  PollLoop loop;
  Pipe a;
  std::function<void()> again = [&] { loop.AddTimer(0, again); };
  loop.AddTimer(0, again);
  bool served = false;
  loop.AddFd(a.read.get(), [&] {
    served = true;
    loop.Stop();
  });
  a.Ring();
  loop.Run();
  EXPECT_TRUE(served);
}

TEST(PollLoopTest, RunOnceGivesUpAfterItsWait) {
  PollLoop loop;
  Pipe a;
  bool served = false;
  loop.AddFd(a.read.get(), [&] { served = true; });
  loop.AddTimer(3'600'000'000, [&] { served = true; });
  loop.RunOnce(1000);
  EXPECT_FALSE(served);
}

TEST(PollLoopTest, SignalsBecomeCallsAndTheMaskComesBack) {
  ASSERT_FALSE(IsBlocked(SIGUSR1));
  std::vector<int> seen;
  {
    PollLoop loop;
    ASSERT_TRUE(
        loop.HandleSignals({SIGUSR1, SIGUSR2}, [&](int signal) { seen.push_back(signal); }).ok());
    EXPECT_TRUE(IsBlocked(SIGUSR1));
    ::raise(SIGUSR1);
    loop.RunOnce(-1);
    EXPECT_EQ(seen, std::vector<int>{SIGUSR1});
    ::raise(SIGUSR2);
    ::raise(SIGUSR1);
    loop.RunOnce(-1);
    EXPECT_EQ(seen.size(), 3u);
  }
  EXPECT_FALSE(IsBlocked(SIGUSR1));
}

TEST(PollLoopTest, AChildsEndIsHeardThoughOurParentIgnoredIt) {
  ::signal(SIGCHLD, SIG_IGN);
  PollLoop loop;
  bool heard = false;
  ASSERT_TRUE(loop.HandleSignals({SIGCHLD},
                                 [&](int) {
                                   heard = true;
                                   loop.Stop();
                                 })
                  .ok());
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "exit 3"};
  auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok());
  loop.AddTimer(30'000'000, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_TRUE(heard);
  auto status = Wait(*pid);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->code, 3);
}

TEST(PollLoopTest, ALoopThatWasStoppedRunsAgain) {
  PollLoop loop;
  int stops = 0;
  for (int i = 0; i < 2; ++i) {
    loop.AddTimer(0, [&] {
      ++stops;
      loop.Stop();
    });
    loop.Run();
  }
  EXPECT_EQ(stops, 2);
}

TEST(PollLoopDeathTest, ADescriptorClosedWhileWatchedIsOurMistake) {
  PollLoop loop;
  Pipe a;
  loop.AddFd(a.read.get(), [] {});
  a.read.Reset();
  EXPECT_DEATH(loop.RunOnce(0), "internal error");
}

TEST(PollLoopTest, ARestingDescriptorWaitsAndKeepsItsPlace) {
  PollLoop loop;
  Pipe first, second;
  std::string served;
  loop.AddFd(first.read.get(), [&] { served += '1'; });
  loop.AddFd(second.read.get(), [&] { served += '2'; });
  first.Ring();
  second.Ring();
  loop.RestFd(first.read.get(), 3'600'000'000);
  loop.RunOnce(0);
  EXPECT_EQ(served, "2");
  loop.RestFd(first.read.get(), 0);
  loop.RunOnce(0);
  EXPECT_EQ(served, "212");
}

TEST(PollLoopTest, TheEndOfARestWakesTheLoop) {
  PollLoop loop;
  Pipe pipe;
  loop.AddFd(pipe.read.get(), [&] { loop.Stop(); });
  pipe.Ring();
  loop.RestFd(pipe.read.get(), 1'000);
  loop.Run();  // comes back only if it looks again
}

}  // namespace
}  // namespace tenon
