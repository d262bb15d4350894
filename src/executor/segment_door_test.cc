// SPDX-License-Identifier: Apache-2.0
#include "executor/segment_door.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::executor {
namespace {

class SegmentDoorTest : public ::testing::Test {
 protected:
  SegmentDoorTest() {
    // Longer than a socket's address may be.
    folder_ = temp_ / (std::string(100, 'd') + "/" + std::string(100, 'e'));
    EXPECT_TRUE(MakeDirs(folder_).ok());
    segment_ = temp_ / "segment.tj";
    EXPECT_TRUE(WriteFileAtomically(segment_, "so far", 0644, Durability::kProcess).ok());
    EXPECT_EQ(::pipe(pipe_), 0);
  }
  ~SegmentDoorTest() override {
    ::close(pipe_[0]);
    if (pipe_[1] >= 0) ::close(pipe_[1]);
  }

  TempFolder temp_;
  std::string folder_, segment_;
  int pipe_[2] = {-1, -1};
};

TEST_F(SegmentDoorTest, WhoAsksWritesToTheVeryFileWithoutItsName) {
  auto door = SegmentDoor::Open(folder_);
  ASSERT_TRUE(door.ok()) << door.error().message;
  Result<UniqueFd> taken = Unavailable("not yet");
  std::thread inside([&] { taken = TakeSegment(folder_); });
  auto given = door->Give(segment_, pipe_[0], 60'000);
  inside.join();
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_TRUE(*given);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  // The init opens it again, so that its place in the file and its lock are its own.
  auto again = OpenFile("/proc/self/fd/" + std::to_string(taken->get()), O_RDWR);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(::pwrite(again->get(), "and on", 6, 6), 6);
  EXPECT_EQ(ReadFile(segment_).value_or(""), "so farand on");
}

TEST_F(SegmentDoorTest, ADeadInitIsNotWaitedFor) {
  auto door = SegmentDoor::Open(folder_);
  ASSERT_TRUE(door.ok());
  ::close(std::exchange(pipe_[1], -1));
  auto given = door->Give(segment_, pipe_[0], 60'000);
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_FALSE(*given);
}

TEST_F(SegmentDoorTest, SilenceHasAnEnd) {
  auto door = SegmentDoor::Open(folder_);
  ASSERT_TRUE(door.ok());
  auto given = door->Give(segment_, pipe_[0], 10);
  ASSERT_FALSE(given.ok());
  EXPECT_EQ(given.error().kind, ErrorKind::kUnavailable);
}

TEST_F(SegmentDoorTest, AClosedDoorIsAnErrorAndASecondOneOpens) {
  {
    auto door = SegmentDoor::Open(folder_);
    ASSERT_TRUE(door.ok());
    // As after a runner that was killed: the socket's name is there.
    EXPECT_TRUE(SegmentDoor::Open(folder_).ok());
  }
  EXPECT_FALSE(TakeSegment(folder_).ok());
  EXPECT_TRUE(SegmentDoor::Open(folder_).ok());
}

}  // namespace
}  // namespace tenon::executor
