// SPDX-License-Identifier: Apache-2.0
// Tests the parts of `probe` and of login shells that need no particular machine.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "runner/verbs/account.h"
#include "runner/verbs/login_shell.h"
#include "runner/verbs/verb_probe.h"

namespace tenon::runner {
namespace {

void Write(const std::string& path, std::string_view text) {
  ASSERT_TRUE(MakeDirs(DirName(path)).ok());
  ASSERT_TRUE(WriteFileAtomically(path, text, 0644, Durability::kProcess).ok());
}

TEST(Account, IsFoundByNumber) {
  const std::string passwd =
      "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:Ann,,,:/home/ann:/bin/tcsh\nbroken:x:7\n";
  EXPECT_EQ(AccountFrom(passwd, 1000).user, "ann");
  EXPECT_EQ(AccountFrom(passwd, 1000).home, "/home/ann");
  EXPECT_EQ(AccountFrom(passwd, 1000).shell, "/bin/tcsh");
  EXPECT_EQ(AccountFrom(passwd, 7).user, "");
  EXPECT_EQ(AccountFrom("", 0).user, "");
}

TEST(Account, TheEnvironmentKnowsBetter) {
  const Account account = OurAccount({{"USER", "bo"}, {"HOME", "/x"}, {"SHELL", "/bin/fish"}});
  EXPECT_EQ(account.user, "bo");
  EXPECT_EQ(account.home, "/x");
  EXPECT_EQ(account.shell, "/bin/fish");
  EXPECT_FALSE(OurAccount({}).shell.empty());
}

TEST(PrintedEnvironment, IsFoundAmongNoise) {
  using std::string_literals::operator""s;
  const std::string text = "Welcome!\nMARKA=1\0LINES=a\nb\0EMPTY=\0MARKbye\n"s;
  const auto found = FindPrintedEnvironment(text, "MARK");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, (Environment{{"A", "1"}, {"LINES", "a\nb"}, {"EMPTY", ""}}));
}

TEST(PrintedEnvironment, ThatIsCutOffIsNone) {
  using std::string_literals::operator""s;
  EXPECT_FALSE(FindPrintedEnvironment("MARKA=1\0B="s, "MARK").has_value());
  EXPECT_FALSE(FindPrintedEnvironment("", "MARK").has_value());
  EXPECT_TRUE(FindPrintedEnvironment("MARKMARK", "MARK")->empty());
}

TEST(WithoutSession, KeepsWhatALoginHas) {
  const Environment left = WithoutSession({{"PATH", "/bin"},
                                           {"SSH_AUTH_SOCK", "x"},
                                           {"XDG_SESSION_ID", "3"},
                                           {"XDG_RUNTIME_DIR", "/run/user/1"},
                                           {"TENON_HOME", "x"},
                                           {"TERMINFO", "x"},
                                           {"TERM", "x"},
                                           {"_", "x"},
                                           {"BASH_FUNC_module%%", "() { :; }"}});
  EXPECT_EQ(left, (Environment{{"PATH", "/bin"},
                               {"XDG_RUNTIME_DIR", "/run/user/1"},
                               {"TERMINFO", "x"},
                               {"BASH_FUNC_module%%", "() { :; }"}}));
}

TEST(KillsOf, TheLastWordCounts) {
  EXPECT_EQ(KillsOf("[Login]\n#KillUserProcesses=no\n", false), "");
  EXPECT_EQ(KillsOf("[Login]\n#KillUserProcesses=no\n", true), "no");
  EXPECT_EQ(KillsOf("KillUserProcesses=no\n KillUserProcesses = yes\n", false), "yes");
  EXPECT_EQ(KillsOf("KillUserProcesses=no\nKillUserProcesses=True\n", false), "yes");
  EXPECT_EQ(KillsOf("", true), "");
}

class Logout : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(root_ / "run/systemd/system").ok()); }
  std::string Answer(bool is_root = false) {
    return LookAtLogout(root_.path(), "ann", is_root).answer;
  }
  TempFolder root_;
};

TEST_F(Logout, WithoutAWordIsNotKnown) { EXPECT_EQ(Answer(), "unknown"); }

TEST_F(Logout, FollowsTheFilesInTheirOrder) {
  Write(root_ / "etc/systemd/logind.conf", "[Login]\n#KillUserProcesses=no\n");
  EXPECT_EQ(Answer(), "no");
  Write(root_ / "usr/lib/systemd/logind.conf.d/10-kill.conf", "[Login]\nKillUserProcesses=yes\n");
  EXPECT_EQ(Answer(), "yes");
  EXPECT_EQ(Answer(/*is_root=*/true), "no");
  Write(root_ / "etc/systemd/logind.conf.d/20-not.conf", "[Login]\nKillUserProcesses=no\n");
  EXPECT_EQ(Answer(), "no");
}

TEST_F(Logout, KnowsWhoIsLeftAlone) {
  Write(root_ / "etc/systemd/logind.conf",
        "[Login]\nKillUserProcesses=yes\nKillExcludeUsers=root ann\n");
  EXPECT_EQ(Answer(), "no");
  EXPECT_EQ(LookAtLogout(root_.path(), "bo", false).answer, "yes");
}

TEST_F(Logout, ADefaultThatKillsIsSeen) {
  Write(root_ / "etc/systemd/logind.conf", "[Login]\n#KillUserProcesses=yes\n");
  EXPECT_EQ(Answer(), "yes");
}

TEST_F(Logout, SlurmTakesWhatALoginStarts) {
  Write(root_ / "etc/pam.d/sshd", "# account required pam_slurm_adopt.so\n");
  EXPECT_EQ(Answer(), "unknown");
  Write(root_ / "etc/pam.d/sshd", "account    required      pam_slurm_adopt.so\n");
  EXPECT_EQ(Answer(), "yes");
}

TEST_F(Logout, WithoutSystemdNobodyKills) {
  ASSERT_TRUE(RemoveTree(root_ / "run").ok());
  EXPECT_EQ(Answer(), "no");
}

}  // namespace
}  // namespace tenon::runner
