// SPDX-License-Identifier: Apache-2.0
#include "executor/segment_door.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

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
    // As when the runner was killed: the socket is still in the folder.
    EXPECT_TRUE(SegmentDoor::Open(folder_).ok());
  }
  EXPECT_FALSE(TakeSegment(folder_).ok());
  EXPECT_TRUE(SegmentDoor::Open(folder_).ok());
}

TEST_F(SegmentDoorTest, EachOfManyGetsTheSegmentAndTheWordsOfItsName) {
  auto door = SegmentDoor::Open(folder_);
  ASSERT_TRUE(door.ok()) << door.error().message;
  Result<Taken> taken[] = {Unavailable("not yet"), Unavailable("not yet"), Unavailable("not yet")};
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&, i] { taken[i] = TakeNamed(folder_, "rank-" + std::to_string(i)); });
  }
  int served = 0;
  while (served < 3) {
    pollfd ready{door->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
    door->Serve([&](const std::string& name) -> Result<SegmentDoor::Given> {
      ++served;
      if (name == "rank-2") return NotFound("nobody");
      return SegmentDoor::Given{temp_ / name, "job of " + name};
    });
  }
  for (std::thread& asker : askers) asker.join();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(taken[i].ok()) << taken[i].error().message;
    EXPECT_EQ(taken[i]->job, "job of rank-" + std::to_string(i));
    EXPECT_EQ(::pwrite(taken[i]->segment.get(), &i, sizeof i, 0), ssize_t{sizeof i});
    EXPECT_TRUE(Exists(temp_ / ("rank-" + std::to_string(i))));
  }
  EXPECT_FALSE(taken[2].ok());
}

TEST_F(SegmentDoorTest, OneWhoAsksForNothingKeepsNobodyWaiting) {
  auto door = SegmentDoor::Open(folder_);
  ASSERT_TRUE(door.ok());
  const auto nothing = [](const std::string&) -> Result<SegmentDoor::Given> {
    ADD_FAILURE() << "no name was said";
    return NotFound("");
  };
  door->Serve(nothing);  // nobody is there
  std::thread silent([&] { EXPECT_FALSE(TakeSegment(folder_).ok()); });
  pollfd ready{door->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
  door->Serve(nothing);
  silent.join();
}

}  // namespace
}  // namespace tenon::executor
