// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/try_folder.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::runner {
namespace {

TEST(TryFolderTest, NothingIsLeft) {
  TempFolder folder;
  EXPECT_EQ(TryFolder(folder.path()), "");
  EXPECT_EQ(TryFolder(folder / "a/b/c"), "");
  EXPECT_TRUE(ListDir(folder.path())->empty());
}

TEST(TryFolderTest, AFolderThatIsAFile) {
  TempFolder folder;
  ASSERT_TRUE(WriteFileAtomically(folder / "file", "x", 0644, Durability::kProcess).ok());
  EXPECT_NE(TryFolder(folder / "file/runs").find("Not a directory"), std::string::npos);
  EXPECT_EQ(*ReadFile(folder / "file"), "x");
}

TEST(TryFolderTest, AFolderThatCannotBeWritten) { EXPECT_NE(TryFolder("/proc/tenon/runs"), ""); }

}  // namespace
}  // namespace tenon::runner
