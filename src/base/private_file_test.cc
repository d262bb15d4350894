// SPDX-License-Identifier: Apache-2.0
#include "base/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

void MakeFile(const std::string& path, mode_t mode) {
  ASSERT_TRUE(WriteFileAtomically(path, "x", 0600, Durability::kProcess).ok());
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

TEST(PrivateFile, WhatOthersMayDoIsTakenAway) {
  TempFolder temp;
  MakeFile(temp / "f", 0644);
  EXPECT_TRUE(KeepPrivate(temp / "f"));
  EXPECT_EQ(ModeOf(temp / "f"), 0600u);
  EXPECT_FALSE(KeepPrivate(temp / "f"));
  EXPECT_FALSE(KeepPrivate(temp / "none"));
  MakeFile(temp / "program", 0755);
  EXPECT_TRUE(KeepPrivate(temp / "program"));
  EXPECT_EQ(ModeOf(temp / "program"), 0700u);
}

TEST(PrivateFile, ASymlinkIsLeftAlone) {
  TempFolder temp;
  MakeFile(temp / "f", 0644);
  ASSERT_EQ(::symlink("f", (temp / "link").c_str()), 0);
  EXPECT_FALSE(KeepPrivate(temp / "link"));
  EXPECT_EQ(ModeOf(temp / "f"), 0644u);
}

TEST(PrivateFile, AFolderThatWasOpenIsClosedWithWhatLiesInIt) {
  TempFolder temp;
  const std::string home = temp / "home";
  for (const char* folder : {"hosts", "work/deep"}) {
    ASSERT_TRUE(MakeDirs(JoinPath(home, folder), 0755).ok());
  }
  ASSERT_EQ(::chmod(home.c_str(), 0755), 0);
  for (const char* file : {"db", "hosts/a", "work/deep/x"}) MakeFile(JoinPath(home, file), 0644);
  const std::array<std::string_view, 2> deeper = {"hosts", "none"};
  KeepFolderPrivate(home, deeper);
  EXPECT_EQ(ModeOf(home), 0700u);
  EXPECT_EQ(ModeOf(home + "/db"), 0600u);
  EXPECT_EQ(ModeOf(home + "/hosts"), 0700u);
  EXPECT_EQ(ModeOf(home + "/hosts/a"), 0600u);
  EXPECT_EQ(ModeOf(home + "/work"), 0700u);
  EXPECT_EQ(ModeOf(home + "/work/deep/x"), 0644u);
}

TEST(PrivateFile, WhatIsMadeAboveAPrivateFolderIsPrivateToo) {
  TempFolder temp;
  const mode_t before = ::umask(0);
  ASSERT_TRUE(MakeDirs(temp / "home/hosts", 0700).ok());
  ASSERT_TRUE(MakeDirs(temp / "other/folder").ok());
  ::umask(before);
  EXPECT_EQ(ModeOf(temp / "home"), 0700u);
  EXPECT_EQ(ModeOf(temp / "other"), 0777u);
}

}  // namespace
}  // namespace tenon
