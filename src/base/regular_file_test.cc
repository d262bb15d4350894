// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon {
namespace {

std::string Refusal(const std::string& path, int flags = O_RDONLY) {
  const auto opened = OpenRegular(path, flags | O_NOFOLLOW);
  if (opened.ok()) return "";
  EXPECT_EQ(opened.error().kind, ErrorKind::kCorrupt);
  return opened.error().message;
}

TEST(RegularFile, WhatIsNoFileIsRefusedAtOnceAndNamed) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((folder / "folder").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("/dev/zero", (folder / "link").c_str()), 0);
  const UniqueFd made(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, (folder / "socket").c_str(), sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(made.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  for (const int flags : {O_RDONLY, O_RDWR, O_RDWR | O_CREAT}) {
    EXPECT_NE(Refusal(folder / "fifo", flags).find("is a FIFO, not a file"), std::string::npos);
    EXPECT_NE(Refusal(folder / "folder", flags).find("is a folder"), std::string::npos);
    EXPECT_NE(Refusal(folder / "link", flags).find("is a symbolic link"), std::string::npos);
    EXPECT_NE(Refusal(folder / "socket", flags).find("is a socket"), std::string::npos);
  }
  EXPECT_NE(Refusal("/dev/zero").find("is a device"), std::string::npos);
  const auto through = OpenRegular(folder / "link", O_RDONLY);
  ASSERT_FALSE(through.ok());
  EXPECT_NE(through.error().message.find("is a device"), std::string::npos);
}

TEST(RegularFile, FilesAndTheirErrorsAreAsEver) {
  const TempFolder folder;
  EXPECT_EQ(OpenRegular(folder / "none", O_RDONLY).error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(OpenRegular(folder / "new", O_RDWR | O_CREAT).ok());
  EXPECT_TRUE(OpenRegular(folder / "new", O_RDONLY | O_NOFOLLOW).ok());
}

TEST(RegularFile, ReadingAFileNeverWaitsForAFifo) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const auto read = ReadFile(folder / "fifo");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("is a FIFO"), std::string::npos);
  EXPECT_FALSE(*IsLockedByOther(folder / "fifo"));
}

TEST(RegularFile, AStreamIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_TRUE(WriteAll(ends[1], "secret").ok());
  ::close(ends[1]);
  EXPECT_EQ(*ReadStream("/proc/self/fd/" + std::to_string(ends[0]), 100), "secret");
  ::close(ends[0]);
}

}  // namespace
}  // namespace tenon
