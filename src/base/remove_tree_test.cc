// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/in_child.h"
#include "base/temp_folder.h"

namespace tenon {
namespace {

void Touch(const std::string& path) { ASSERT_TRUE(OpenFile(path, O_WRONLY | O_CREAT).ok()); }

TEST(RemoveTreeTest, RemovesFilesLinksFifosAndFolders) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "t/a/b").ok());
  ASSERT_TRUE(MakeDirs(folder / "t/empty").ok());
  Touch(folder / "t/a/f");
  Touch(folder / "t/odd\nname\xff");
  ASSERT_EQ(::mkfifo((folder / "t/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("nowhere", (folder / "t/a/b/dangling").c_str()), 0);
  auto removed = RemoveTree(folder / "t");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_FALSE(Exists(folder / "t"));
  EXPECT_TRUE(RemoveTree(folder / "t").ok());
  EXPECT_TRUE(RemoveTree(folder / "t/below").ok());
}

TEST(RemoveTreeTest, ASymlinkToOutsideIsRemovedAndItsTargetKept) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "outside").ok());
  ASSERT_TRUE(MakeDirs(folder / "t/sub").ok());
  Touch(folder / "outside/precious");
  ASSERT_EQ(::symlink((folder / "outside").c_str(), (folder / "t/sub/link").c_str()), 0);
  ASSERT_EQ(::symlink((folder / "outside").c_str(), (folder / "top").c_str()), 0);
  EXPECT_TRUE(RemoveTree(folder / "t").ok());
  EXPECT_TRUE(RemoveTree(folder / "top/").ok());  // the slash must not lead through the link
  EXPECT_FALSE(Exists(folder / "t"));
  EXPECT_FALSE(Exists(folder / "top"));
  EXPECT_TRUE(Exists(folder / "outside/precious"));
}

TEST(RemoveTreeTest, NamesThatMeanAWholePlaceAreRefused) {
  TempFolder folder;
  Touch(folder / "f");
  for (std::string path : {std::string(), std::string("/"), std::string("//"), std::string("."),
                           folder / ".", folder / "..", folder / "./"}) {
    auto refused = RemoveTree(path);
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  }
  EXPECT_TRUE(Exists(folder / "f"));
}

// Deeper than PATH_MAX allows as one path, and deeper than we keep folders open.
TEST(RemoveTreeTest, ATreeDeeperThanAPathMayBeLongIsRemoved) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "t").ok());
  UniqueFd at(::open((folder / "t").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 600; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "folder", 0777), 0);
    at.Reset(::openat(at.get(), "folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
  auto removed = RemoveTree(folder / "t");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_FALSE(Exists(folder / "t"));
}

TEST(RemoveTreeTest, AFolderOfAHundredThousandEntriesIsRemoved) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "t").ok());
  UniqueFd at(::open((folder / "t").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Hard links, because making as many files takes most file systems seconds.
  for (int i = 0; i < 100'000; ++i) {
    std::string name = "entry" + std::to_string(i);
    std::string first = "first" + std::to_string(i / 5000);
    if (i % 5000 == 0) Touch(folder / ("t/" + first));
    if (i % 1000 == 0) {
      ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0777), 0);
      name += "/below";
    }
    ASSERT_EQ(::linkat(at.get(), first.c_str(), at.get(), name.c_str(), 0), 0);
  }
  auto removed = RemoveTree(folder / "t");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_FALSE(Exists(folder / "t"));
}

TEST(RemoveTreeTest, FoldersMadeReadOnlyAreRemovedByTheirOwner) {
  TempFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  std::string said = InChild([&]() -> std::string {
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)) {
      return "cannot become another user";
    }
    if (!MakeDirs(folder / "t/closed/in").ok() || !MakeDirs(folder / "t/ro/in").ok()) return "make";
    if (!OpenFile(folder / "t/ro/f", O_WRONLY | O_CREAT).ok()) return "make file";
    if (!OpenFile(folder / "t/closed/in/f", O_WRONLY | O_CREAT).ok()) return "make file";
    ::chmod((folder / "t/ro").c_str(), 0500);
    ::chmod((folder / "t/closed").c_str(), 0);
    ::chmod((folder / "t").c_str(), 0500);
    auto removed = RemoveTree(folder / "t");
    if (!removed.ok()) return removed.error().message;
    return Exists(folder / "t") ? "still there" : "";
  });
  EXPECT_EQ(said, "");
}

TEST(RemoveTreeTest, WhatCannotGoIsNamedAndTheRestGoes) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "planned: needs root, to make a folder that is somebody else's";
  TempFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_TRUE(MakeDirs(folder / "t/theirs").ok());
  Touch(folder / "t/theirs/f");
  Touch(folder / "t/ours");
  ASSERT_EQ(::chmod((folder / "t").c_str(), 0777), 0);
  std::string said = InChild([&]() -> std::string {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
      return "setuid";
    auto removed = RemoveTree(folder / "t");
    if (removed.ok()) return "it said it was done";
    if (removed.error().kind != ErrorKind::kDenied) return removed.error().message;
    if (removed.error().message.find(folder / "t/theirs/f") == std::string::npos) {
      return removed.error().message;
    }
    return Exists(folder / "t/ours") ? "stopped at the first failure" : "";
  });
  EXPECT_EQ(said, "");
  EXPECT_TRUE(Exists(folder / "t/theirs/f"));
}

TEST(RemoveTreeTest, AnotherFileSystemMountedInsideIsNotEntered) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "t/mounted").ok());
  Touch(folder / "t/f");
  std::string said = InChild([&]() -> std::string {
    if (!OwnMounts() || ::mount("tmpfs", (folder / "t/mounted").c_str(), "tmpfs", 0, "") != 0) {
      return "cannot mount";
    }
    if (!OpenFile(folder / "t/mounted/precious", O_WRONLY | O_CREAT).ok()) return "make file";
    auto removed = RemoveTree(folder / "t");
    if (removed.ok()) return "it said it was done";
    if (removed.error().message.find("t/mounted") == std::string::npos) {
      return removed.error().message;
    }
    if (!Exists(folder / "t/mounted/precious")) return "the other file system was emptied";
    return Exists(folder / "t/f") ? "our own file is still there" : "";
  });
  if (said == "cannot mount") GTEST_SKIP() << "planned: needs root or user namespaces to mount";
  EXPECT_EQ(said, "");
}

TEST(RemoveTreeTest, RemoveFileLeavesFoldersAlone) {
  TempFolder folder;
  Touch(folder / "f");
  EXPECT_TRUE(RemoveFile(folder / "f").ok());
  EXPECT_TRUE(RemoveFile(folder / "f").ok());
  ASSERT_TRUE(MakeDirs(folder / "d").ok());
  EXPECT_FALSE(RemoveFile(folder / "d").ok());
  EXPECT_TRUE(Exists(folder / "d"));
}

}  // namespace
}  // namespace tenon
