// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/ssh_config.h"

#include <gtest/gtest.h>

#include "base/process.h"
#include "base/temp_folder.h"

namespace tenon::cli {
namespace {

TEST(SshConfigTest, TheUsersFileKeepsEveryByteAndGetsTheLineOnce) {
  const std::string line = "Include tenon_config";
  const std::string config = "# mine\r\nHost a\n  User b";
  const std::string once = WithIncludeLine(config, line);
  EXPECT_EQ(once, line + "\n" + config);
  EXPECT_EQ(WithIncludeLine(once, line), once);
  EXPECT_EQ(WithIncludeLine("", line), line + "\n");
}

TEST(SshConfigTest, AnIncludeThatOnlyCountsForOneHostIsNotEnough) {
  const std::string line = "Include tenon_config";
  const std::string config = "Host a\nInclude tenon_config\n";
  EXPECT_EQ(WithIncludeLine(config, line), line + "\n" + config);
}

TEST(SshConfigTest, SshReadsBlanksAndPercentSignsAsTheyAre) {
  TempFolder folder;
  SshConfigEntry entry{"far",
                       "a remark",
                       {{"HostName", "203.0.113.7"},
                        {"Port", "2222"},
                        {"User", "ann"},
                        {"UserKnownHostsFile", "/a b/100%/known"},
                        {"HostKeyAlias", "tenon-x"}}};
  const std::string file = folder / "config";
  ASSERT_TRUE(WriteFileAtomically(file, SshConfigText({entry}), 0600, Durability::kProcess).ok());
  const auto asked = RunAndCapture({"ssh", "-F", file, "-G", "far"}, "", "", 20'000);
  if (!asked.ok()) GTEST_SKIP() << "no ssh here";
  ASSERT_EQ(asked->status.AsShell(), 0) << asked->err;
  EXPECT_NE(asked->out.find("hostname 203.0.113.7\n"), std::string::npos);
  EXPECT_NE(asked->out.find("port 2222\n"), std::string::npos);
  EXPECT_NE(asked->out.find("hostkeyalias tenon-x\n"), std::string::npos);
  EXPECT_NE(asked->out.find("userknownhostsfile /a b/100%"), std::string::npos);
}

}  // namespace
}  // namespace tenon::cli
