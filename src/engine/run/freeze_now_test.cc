// SPDX-License-Identifier: Apache-2.0
#include "engine/run/freeze_now.h"

#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "engine/run/compare.h"
#include "engine/space/space.h"

namespace tenon::engine {
namespace {

constexpr int64_t kDayUs = int64_t{24} * 3600 * 1'000'000;

class FreezeNowTest : public ::testing::Test {
 protected:
  FreezeNowTest() : context_(MakeLocalContext(home_.path() + "/home", "test")) {
    clock_.now_us = SystemClock().NowUs();
    context_->clock = &clock_;
    Write("a.txt", "a");
    Write("b.txt", "b");
  }

  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(MakeDirs(project_.path()).ok());
    ASSERT_TRUE(WriteFileAtomically(project_ / name, text, 0644, Durability::kProcess).ok());
  }
  FrozenNow Freeze() {
    Reporter reporter;
    auto frozen = FreezeNow(*context_, {project_.path(), nullptr}, reporter);
    EXPECT_TRUE(frozen.ok()) << frozen.error().message;
    return *frozen;
  }
  journal::RunView RunOf(const FrozenNow& frozen) {
    journal::RunView run;
    run.spec.id = "p_1";
    run.spec.kept_tree = frozen.kept_tree;
    return run;
  }

  TempFolder home_, project_;
  FakeClock clock_;
  std::unique_ptr<Context> context_;
};

TEST_F(FreezeNowTest, ListMissesAFile) {
  const FrozenNow frozen = Freeze();
  EXPECT_EQ(frozen.files, 2u);
  std::vector<std::string> paths;
  ASSERT_TRUE(ListTree(*context_, frozen.kept_tree, [&](const FrozenFile& file) {
                paths.push_back(file.path);
                return Status();
              }).ok());
  EXPECT_EQ(paths, (std::vector<std::string>{"a.txt", "b.txt"}));
  EXPECT_EQ(
      ListTree(*context_, "nonsense", [](const FrozenFile&) { return Status(); }).error().kind,
      ErrorKind::kInvalid);
}

TEST_F(FreezeNowTest, SnapshotIsGoneBeforeItsTime) {
  const std::string tree = Freeze().kept_tree;
  clock_.Advance(29 * kDayUs);
  EXPECT_EQ(*KeptTrees(*context_, false), std::vector<std::string>{tree});
  EXPECT_EQ(*ResolveTree(*context_, tree.substr(0, 40)), tree);
}

TEST_F(FreezeNowTest, SnapshotIsKeptForEver) {
  const std::string tree = Freeze().kept_tree;
  clock_.Advance(31 * kDayUs);
  EXPECT_TRUE(KeptTrees(*context_, true)->empty());
  clock_.Advance(-31 * kDayUs);
  EXPECT_EQ(KeptTrees(*context_, false)->size(), 1u) << "a dry run removed it";
  clock_.Advance(31 * kDayUs);
  EXPECT_TRUE(KeptTrees(*context_, false)->empty());
  clock_.Advance(-31 * kDayUs);
  EXPECT_TRUE(KeptTrees(*context_, false)->empty());
  EXPECT_EQ(ResolveTree(*context_, tree).error().kind, ErrorKind::kNotFound);
}

TEST_F(FreezeNowTest, GarbageCollectionTakesAKeptSnapshot) {
  const std::string tree = Freeze().kept_tree;
  Reporter reporter;
  GcOptions options;
  options.min_object_age_us = -kDayUs;  // everything is old enough
  ASSERT_TRUE(CollectGarbage(*context_, options, reporter).ok());
  auto again = MakeLocalContext(home_.path() + "/home", "test");
  size_t files = 0;
  ASSERT_TRUE(ListTree(*again, tree, [&](const FrozenFile&) {
                ++files;
                return Status();
              }).ok());
  EXPECT_EQ(files, 2u);
  clock_.Advance(31 * kDayUs);
  ASSERT_TRUE(CollectGarbage(*context_, options, reporter).ok());
  auto afterwards = MakeLocalContext(home_.path() + "/home", "test");
  EXPECT_FALSE(ListTree(*afterwards, tree, [](const FrozenFile&) { return Status(); }).ok());
}

TEST_F(FreezeNowTest, ShortOrForeignHash) {
  Freeze();
  EXPECT_EQ(ResolveTree(*context_, "abc").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(ResolveTree(*context_, std::string(64, '0')).error().kind, ErrorKind::kNotFound);
}

TEST_F(FreezeNowTest, ChangesAreMixedUp) {
  const journal::RunView first = RunOf(Freeze());
  Write("a.txt", "changed");
  Write("c.txt", "new");
  ASSERT_TRUE(RemoveFile(project_ / "b.txt").ok());
  const journal::RunView second = RunOf(Freeze());
  const auto changes = CompareSnapshots(*context_, first, second);
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  EXPECT_EQ(changes->changed, std::vector<std::string>{"a.txt"});
  EXPECT_EQ(changes->added, std::vector<std::string>{"c.txt"});
  EXPECT_EQ(changes->removed, std::vector<std::string>{"b.txt"});
  EXPECT_TRUE(CompareSnapshots(*context_, first, first)->empty());
}

TEST_F(FreezeNowTest, ModeAloneIsNoChange) {
  const journal::RunView first = RunOf(Freeze());
  ASSERT_EQ(::chmod((project_ / "a.txt").c_str(), 0755), 0);
  const auto changes = CompareSnapshots(*context_, first, RunOf(Freeze()));
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  EXPECT_EQ(changes->changed, std::vector<std::string>{"a.txt"});
}

TEST(CompareOutputs, EqualFilesDiffer) {
  journal::RunView first, second;
  first.artifacts = {{"outputs/a", 1, "11", 0644}, {"outputs/b", 1, "22", 0644}};
  second.artifacts = {{"outputs/c", 1, "33", 0644}, {"outputs/a", 1, "11", 0644}};
  const FileChanges changes = CompareOutputs(first, second);
  EXPECT_TRUE(changes.changed.empty());
  EXPECT_EQ(changes.added, std::vector<std::string>{"outputs/c"});
  EXPECT_EQ(changes.removed, std::vector<std::string>{"outputs/b"});
}

}  // namespace
}  // namespace tenon::engine
