// SPDX-License-Identifier: Apache-2.0
#include "base/waiting.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_folder.h"

namespace tenon {
namespace {

// A process that holds the lock of a file until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto lock = FileLock::Take(path, false);
      (void)!::write(ends[1], lock.ok() ? "y" : "n", 1);
      for (;;) ::pause();
    }
    char said = 0;
    EXPECT_EQ(::read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Holder() {
    ::kill(pid_, SIGKILL);
    (void)Wait(pid_).ok();
  }
  void Stop() {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(WaitingTest, TheHolderOfALockIsFound) {
  TempFolder folder;
  const std::string path = folder.path() + "/lock";
  EXPECT_FALSE(FindLockHolder(path));
  Holder holder(path);
  auto found = FindLockHolder(path);
  if (!found) GTEST_SKIP() << "/proc/locks shows nothing here";
  EXPECT_EQ(found->pid, holder.pid());
  EXPECT_FALSE(found->stopped);
  holder.Stop();
  EXPECT_TRUE(FindLockHolder(path)->stopped);
  EXPECT_FALSE(IsStopped(::getpid()));
  EXPECT_FALSE(IsStopped(0));
}

TEST(WaitingTest, LockOfAStoppedProcessIsNotWaitedForForEver) {
  TempFolder folder;
  const std::string path = folder.path() + "/lock";
  Holder holder(path);
  if (!FindLockHolder(path)) GTEST_SKIP() << "/proc/locks shows nothing here";
  holder.Stop();
  const auto taken = FileLock::Take(path, /*wait=*/true);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::kUnavailable);
  const std::string pid = std::to_string(holder.pid());
  EXPECT_NE(taken.error().message.find("(process " + pid + "), which is stopped"),
            std::string::npos)
      << taken.error().message;
  EXPECT_NE(taken.error().hint.find("kill -CONT " + pid), std::string::npos);
}

TEST(WaitingTest, AWaitThatLastsIsTold) {
  TempFolder folder;
  const std::string path = folder.path() + "/lock";
  auto holder = std::make_unique<Holder>(path);
  std::string told;
  SetWaitListener([&](const std::string& sentence) {
    told = sentence;
    holder.reset();  // the wait ends
  });
  EXPECT_TRUE(FileLock::Take(path, /*wait=*/true).ok());
  SetWaitListener(nullptr);
  EXPECT_NE(told.find(path), std::string::npos) << told;
}

}  // namespace
}  // namespace tenon
