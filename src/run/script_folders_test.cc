// SPDX-License-Identifier: Apache-2.0
#include "run/script_folders.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/clock.h"
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
  for (const std::string& path : {home_.script_folders(), folder_.script_folder()}) {
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

// A link that somebody else made is not followed, neither for reading nor for removal.
TEST_F(ScriptFoldersTest, AForeignLinkLeadsNowhereElse) {
  const std::string theirs = temp_.path() + "/theirs";
  Put(theirs);
  ASSERT_EQ(::symlink(theirs.c_str(), (folder_.path() + "/work").c_str()), 0);
  EXPECT_EQ(folder_.work(), folder_.script_folder() + "/work");
  ASSERT_TRUE(RemoveRun(folder_).ok());
  EXPECT_TRUE(Exists(theirs + "/file"));
}

class LostScriptFoldersTest : public ScriptFoldersTest {
 protected:
  // Makes the script folders of a run whose own folder is gone.
  void SetUp() override { Put(gone_.script_folder() + "/work"); }
  uint64_t Remove(bool dry_run = false) { return RemoveLostScriptFolders(home_, now_us_, dry_run); }

  RunFolder gone_{home_, "p_1500000000000"};
  int64_t now_us_ = SystemClock().NowUs() + int64_t{8} * 24 * 3600 * 1'000'000;
};

TEST_F(LostScriptFoldersTest, OnlyThoseWithoutARunAreLost) {
  const RunFolder run(home_, "p_1500000000001");
  ASSERT_TRUE(MakeDirs(run.path()).ok());
  ASSERT_TRUE(MakeScriptFolders(run).ok());
  Put(run.work());
  EXPECT_GT(Remove(/*dry_run=*/true), 0u);
  EXPECT_TRUE(Exists(gone_.script_folder()));
  EXPECT_GT(Remove(), 0u);
  EXPECT_FALSE(Exists(gone_.script_folder()));
  EXPECT_TRUE(Exists(run.work() + "/file"));
}

TEST_F(LostScriptFoldersTest, ThoseThatChangedThisWeekAreKept) {
  now_us_ = SystemClock().NowUs() + int64_t{6} * 24 * 3600 * 1'000'000;
  EXPECT_EQ(Remove(), 0u);
  EXPECT_TRUE(Exists(gone_.script_folder()));
}

TEST_F(LostScriptFoldersTest, AFolderOfSomebodyElseIsKept) {
  ASSERT_TRUE(RemoveTree(gone_.script_folder()).ok());
  Put(home_.script_folders() + "/thesis");
  Put(home_.script_folders() + "/p_1500000000002");  // holds "file"
  EXPECT_EQ(Remove(), 0u);
  EXPECT_TRUE(Exists(home_.script_folders() + "/thesis/file"));
  EXPECT_TRUE(Exists(home_.script_folders() + "/p_1500000000002/file"));
}

// The process is like a script whose record was removed.
TEST_F(LostScriptFoldersTest, ThoseAProcessWorksInAreKept) {
  std::string before(PATH_MAX, '\0');
  ASSERT_NE(::getcwd(before.data(), before.size()), nullptr);
  ASSERT_EQ(::chdir((gone_.script_folder() + "/work").c_str()), 0);
  EXPECT_EQ(Remove(), 0u);
  ASSERT_EQ(::chdir(before.c_str()), 0);
  EXPECT_TRUE(Exists(gone_.script_folder() + "/work/file"));
  EXPECT_GT(Remove(), 0u);
}

}  // namespace
}  // namespace tenon::run
