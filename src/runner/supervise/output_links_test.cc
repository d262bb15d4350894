// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/output_links.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::runner {
namespace {

class OutputLinks : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(outputs_ + "/deep").ok());
    ASSERT_TRUE(MakeDirs(work_ + "/ckpt/more").ok());
    Write(work_ + "/ckpt/best.pt", "best");
    Write(work_ + "/ckpt/more/last.pt", "last");
    Write(outputs_ + "/model_10.bin", "ten");
  }
  static void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644, Durability::kProcess).ok());
  }
  void Link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), (outputs_ + "/" + name).c_str()), 0);
  }
  std::string Read(const std::string& name) const {
    return ReadFile(outputs_ + "/" + name, 100).value_or("(nothing)");
  }

  TempFolder dir_;
  std::string work_ = dir_.path() + "/work";
  std::string outputs_ = work_ + "/outputs";
};

TEST_F(OutputLinks, BecomeWhatTheyLeadToWithinTheRun) {
  Link("model_10.bin", "latest");
  Link(work_ + "/ckpt/best.pt", "deep/best.pt");
  Link("../ckpt", "all");
  EXPECT_TRUE(ResolveLinks(work_, outputs_).empty());
  ASSERT_TRUE(RemoveTree(work_ + "/ckpt").ok());
  EXPECT_EQ(Read("latest"), "ten");
  EXPECT_EQ(Read("deep/best.pt"), "best");
  EXPECT_EQ(Read("all/best.pt"), "best");
  EXPECT_EQ(Read("all/more/last.pt"), "last");
}

TEST_F(OutputLinks, ThatLeadElsewhereOrNowhereOrUpStay) {
  Link("/etc/passwd", "passwd");
  Link("gone", "deep/gone");
  Link("../outputs", "deep/around");
  Link("..", "work");
  Link("loop", "loop");
  auto left = ResolveLinks(work_, outputs_);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"deep/around", "deep/gone", "loop", "passwd", "work"}));
  EXPECT_EQ(ReadLink(outputs_ + "/passwd").value_or(""), "/etc/passwd");
}

TEST_F(OutputLinks, OfAFolderThatIsAFolderOfOthersAreLeftAlone) {
  const std::string elsewhere = dir_.path() + "/elsewhere";
  ASSERT_TRUE(RenameFile(outputs_, elsewhere).ok());
  ASSERT_EQ(::symlink(elsewhere.c_str(), outputs_.c_str()), 0);
  Link("model_10.bin", "latest");
  EXPECT_EQ(ResolveLinks(work_, outputs_), std::vector<std::string>{"latest"});
  EXPECT_EQ(ReadLink(elsewhere + "/latest").value_or(""), "model_10.bin");
}

TEST_F(OutputLinks, InAFolderThatIsTakenAlongDoNotLeadOut) {
  ASSERT_EQ(::symlink("/etc", (work_ + "/ckpt/etc").c_str()), 0);
  ASSERT_EQ(::symlink("best.pt", (work_ + "/ckpt/also").c_str()), 0);
  ASSERT_EQ(::symlink("..", (work_ + "/ckpt/up").c_str()), 0);
  Link("../ckpt", "all");
  EXPECT_TRUE(ResolveLinks(work_, outputs_).empty());
  EXPECT_EQ(Read("all/also"), "best");
  EXPECT_FALSE(Exists(outputs_ + "/all/etc"));
  EXPECT_FALSE(Exists(outputs_ + "/all/up"));
}

TEST_F(OutputLinks, InPlaceOfTheFolderMayLeadAnywhereButAboveTheHome) {
  const std::string home = dir_.path() + "/home";
  ASSERT_TRUE(MakeDirs(home + "/runs").ok());
  EXPECT_EQ(LeadsAbove(outputs_, home), "");
  ASSERT_TRUE(RemoveTree(outputs_).ok());
  for (const auto& [target, above] : {std::pair<std::string, bool>("/", true),
                                      {dir_.path(), true},
                                      {home, true},
                                      {home + "/runs", false},
                                      {"../../gone", false},
                                      {"/etc", false}}) {
    ASSERT_EQ(::symlink(target.c_str(), outputs_.c_str()), 0);
    EXPECT_EQ(!LeadsAbove(outputs_, home).empty(), above) << target;
    ASSERT_TRUE(RemoveFile(outputs_).ok());
  }
}

}  // namespace
}  // namespace tenon::runner
