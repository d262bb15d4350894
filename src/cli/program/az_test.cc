// SPDX-License-Identifier: Apache-2.0
#include "cli/program/az.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::cli {
namespace {

TEST(FindOtherAzTest, OneOfOursIsTakenForTheReal) {
  TempFolder folder;
  for (const char* name : {"ours", "link", "real", "text"}) {
    ASSERT_TRUE(MakeDirs(folder / name).ok());
  }
  auto write = [&](const std::string& path, std::string_view text, mode_t mode) {
    ASSERT_TRUE(WriteFileAtomically(folder / path, text, mode, Durability::kProcess).ok());
  };
  write("ours/az", AzScript("/opt/it's here/tenon"), 0755);
  ASSERT_EQ(::symlink("/proc/self/exe", (folder / "link/az").c_str()), 0);
  write("text/az", "#!/bin/sh\n", 0644);
  Environment environment;
  environment["PATH"] = (folder / "ours") + ":" + (folder / "link") + ":" + (folder / "text") +
                        ":/nowhere:" + (folder / "real");
  EXPECT_FALSE(FindOtherAz(environment));
  write("real/az", "#!/bin/sh\n", 0755);
  EXPECT_EQ(FindOtherAz(environment), folder / "real/az");
  EXPECT_FALSE(FindOtherAz({}));
}

}  // namespace
}  // namespace tenon::cli
