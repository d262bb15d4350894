// SPDX-License-Identifier: Apache-2.0
#include "run/script_folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::run {
namespace {

class ScriptFoldersTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(folder_.path()).ok()); }
  static void Put(const std::string& path) {
    ASSERT_TRUE(MakeDirs(path).ok());
    ASSERT_TRUE(WriteFileAtomically(path + "/file", "text", 0600, Durability::kProcess).ok());
  }

  TempFolder temp_;
  Home home_{temp_.path()};
  RunFolder folder_{home_, "p_1"};
};

TEST_F(ScriptFoldersTest, TheyLieApartFromTheRecordAndTheRunsFolderLeadsThere) {
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  Put(folder_.outputs());
  Put(folder_.metrics());
  EXPECT_EQ(folder_.work(), home_.root() + "/work/p_1/work");
  EXPECT_EQ(folder_.metrics(), home_.root() + "/work/p_1/metrics");
  EXPECT_TRUE(Exists(folder_.path() + "/work/outputs/file"));
  EXPECT_TRUE(Exists(folder_.path() + "/metrics/file"));
}

TEST_F(ScriptFoldersTest, TheyAreTheUsersAlone) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  ::umask(before);
  for (const std::string& path : {home_.work(), folder_.script_folder()}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << path;
  }
}

TEST_F(ScriptFoldersTest, ThoseOfAnEarlierTryAreEmptied) {
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  Put(folder_.work());
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  EXPECT_FALSE(Exists(folder_.work()));
  EXPECT_TRUE(Exists(folder_.script_folder()));
}

TEST_F(ScriptFoldersTest, NothingStaysOnceBothAreRemoved) {
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  Put(folder_.work());
  Put(folder_.metrics());
  ASSERT_TRUE(RemoveMetrics(folder_).ok());
  EXPECT_TRUE(Exists(folder_.work() + "/file"));
  ASSERT_TRUE(RemoveWork(folder_).ok());
  EXPECT_FALSE(Exists(folder_.script_folder()));
  EXPECT_TRUE(ListDir(folder_.path()).value().empty());
}

TEST_F(ScriptFoldersTest, TheFoldersOfAnOldRunStayWhereTheyAre) {
  Put(folder_.path() + "/work/outputs");
  Put(folder_.path() + "/metrics");
  EXPECT_EQ(folder_.outputs(), folder_.path() + "/work/outputs");
  EXPECT_EQ(folder_.metrics(), folder_.path() + "/metrics");
  const uint64_t bytes = RunBytes(folder_);
  ASSERT_TRUE(RemoveWork(folder_).ok());
  EXPECT_LT(RunBytes(folder_), bytes);
  ASSERT_TRUE(RemoveRun(folder_).ok());
  EXPECT_FALSE(Exists(folder_.path()));
}

// A link somebody else has put there is not followed: not for reading, not for removal.
TEST_F(ScriptFoldersTest, AForeignLinkLeadsNowhereElse) {
  const std::string theirs = temp_.path() + "/theirs";
  Put(theirs);
  ASSERT_EQ(::symlink(theirs.c_str(), (folder_.path() + "/work").c_str()), 0);
  EXPECT_EQ(folder_.work(), folder_.script_folder() + "/work");
  ASSERT_TRUE(RemoveRun(folder_).ok());
  EXPECT_TRUE(Exists(theirs + "/file"));
}

TEST_F(ScriptFoldersTest, OnlyThoseWithoutARunAreLost) {
  ASSERT_TRUE(MakeScriptFolders(folder_).ok());
  Put(folder_.work());
  const RunFolder gone(home_, "p_2");
  Put(gone.script_folder() + "/work");
  EXPECT_GT(RemoveLostScriptFolders(home_, /*dry_run=*/true), 0u);
  EXPECT_TRUE(Exists(gone.script_folder()));
  EXPECT_GT(RemoveLostScriptFolders(home_, /*dry_run=*/false), 0u);
  EXPECT_FALSE(Exists(gone.script_folder()));
  EXPECT_TRUE(Exists(folder_.work() + "/file"));
}

}  // namespace
}  // namespace tenon::run
