// SPDX-License-Identifier: Apache-2.0
#include "project/create.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "project/project.h"

namespace tenon::project {
namespace {

TEST(Create, ProjectJsonIsReadBackAsItWasMeant) {
  TempFolder temp;
  const std::string text =
      ProjectJson("0f7a6f2e-0000-4000-8000-000000000001", {"", "acc/ount", ".."}, "N\xc3\xa4me 1");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  ASSERT_TRUE(WriteNewFolder(temp / "p", {{".azureml/project.json", text}}, false).ok());
  const auto project = OpenProject(temp / "p", std::nullopt);
  ASSERT_TRUE(project.ok()) << project.error().message;
  EXPECT_EQ(project->name.value, "N\xc3\xa4me 1");
  EXPECT_EQ(project->id.value, "0f7a6f2e-0000-4000-8000-000000000001");
  EXPECT_EQ(project->account, "acc_ount");
  EXPECT_EQ(project->workspace, "local");
}

TEST(Create, FolderThatIsInUseIsLeftAloneUnlessForced) {
  TempFolder temp;
  ASSERT_TRUE(WriteNewFolder(temp / "p", {{"a.txt", "mine"}, {"b.txt", "mine"}}, false).ok());
  const auto refused = WriteNewFolder(temp / "p", {{"a.txt", "new"}, {"c.txt", "new"}}, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(ReadFile(temp / "p/a.txt").value(), "mine");
  EXPECT_FALSE(Exists(temp / "p/c.txt"));
  const auto forced = WriteNewFolder(temp / "p", {{"c.txt", "new"}, {"a.txt", "new"}}, true);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(*forced, (std::vector<std::string>{"a.txt", "c.txt"}));
  EXPECT_EQ(ReadFile(temp / "p/a.txt").value(), "new");
  EXPECT_EQ(ReadFile(temp / "p/b.txt").value(), "mine");
}

TEST(Create, FailureLeavesNoHalfFolder) {
  TempFolder temp;
  // The second file needs a folder at the path of the first file.
  EXPECT_FALSE(WriteNewFolder(temp / "p", {{"a", "x"}, {"a/b", "x"}}, false).ok());
  EXPECT_TRUE(ListDir(temp.path())->empty());
}

TEST(Create, NamesThatWouldLeaveTheFolderAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "a\\b", "-n", "a\nb", " a", "\xff"}) {
    EXPECT_FALSE(CheckProjectName(name).ok()) << name;
  }
  for (const char* name : {"x", "9_16_4", "my project", "a.b-c", "\xc3\xa4"}) {
    EXPECT_TRUE(CheckProjectName(name).ok()) << name;
  }
}

}  // namespace
}  // namespace tenon::project
