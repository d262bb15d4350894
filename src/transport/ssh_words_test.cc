// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh_words.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "base/text.h"

namespace tenon::transport {
namespace {

TEST(SshWords, AddressesInEveryForm) {
  const struct {
    const char *text, *user, *host;
    int port;
  } kCases[] = {
      {"gpu1", "", "gpu1", 0},
      {"203.0.113.7:2222", "", "203.0.113.7", 2222},
      {"ssh://ann@gpu1:2222", "ann", "gpu1", 2222},
      {"ssh://gpu1/", "", "gpu1", 0},
      {"ann@corp@gpu1", "ann@corp", "gpu1", 0},
      {"[2001:db8::1]:2222", "", "2001:db8::1", 2222},
      {"[2001:db8::1]", "", "2001:db8::1", 0},
      {"2001:db8::1", "", "2001:db8::1", 0},
      {"fe80::1%eth0", "", "fe80::1%eth0", 0},
  };
  for (const auto& c : kCases) {
    const auto parsed = ParseMachineAddress(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->user, c.user);
    EXPECT_EQ(parsed->host, c.host);
    EXPECT_EQ(parsed->port, c.port);
  }
}

TEST(SshWords, AnAddressThatSshOrAShellWouldReadOtherwiseIsRefused) {
  for (const char* text : {"-oProxyCommand=id", "", "a b", "a;b", "$(id)", "host:0", "host:70000",
                           "host:", "[::1", "[::1]x", "-x@host", "a\nb", "`id`", "ann@-host"}) {
    const auto parsed = ParseMachineAddress(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
  }
}

TEST(SshWords, EveryShellReadsAQuotedWordAsItIs) {
  const std::vector<std::string> kWords = {"plain",
                                           "",
                                           "a b",
                                           "it's",
                                           "a!b",
                                           "!!",
                                           "back\\slash",
                                           "\\",
                                           "$HOME`id`$(id)",
                                           "*?[x]{a,b}",
                                           "~",
                                           "=ls",
                                           "#x",
                                           "\"",
                                           "'\"'\\!'",
                                           "a%b^c&d|e;f<g>h",
                                           "é",
                                           "-n",
                                           "\t"};
  std::string line;
  for (const std::string& word : kWords) line += " " + QuoteForAnyShell(word);
  int shells = 0;
  for (const char* shell : {"bash", "dash", "zsh", "fish", "tcsh", "ksh", "sh"}) {
    if (!FindProgram(shell, std::getenv("PATH"))) continue;
    ++shells;
    const auto said = RunAndCapture({shell, "-c", "printf '%s|'" + line}, "/", "", 20'000);
    ASSERT_TRUE(said.ok());
    EXPECT_EQ(said->out, Join(kWords, "|") + "|") << shell << ": " << said->err;
  }
  EXPECT_GE(shells, 1);
}

TEST(SshWords, FingerprintsAreThoseOfSshKeygen) {
  TempFolder folder;
  for (const char* type : {"ed25519", "rsa", "ecdsa"}) {
    ASSERT_TRUE(RunAndCapture({"ssh-keygen", "-q", "-t", type, "-N", "", "-f", folder / type}, "",
                              "", 60'000)
                    .ok());
    const auto said = RunAndCapture({"ssh-keygen", "-lf", folder / type}, "", "", 20'000);
    const auto key = ParseHostKey(*ReadFile(folder / (std::string(type) + ".pub")));
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(Split(said->out, ' ')[1], key->fingerprint);
    EXPECT_NE(said->out.find("(" + key->type + ")"), std::string::npos) << said->out;
  }
  EXPECT_FALSE(ParseHostKey("ssh-ed25519").ok());
  EXPECT_FALSE(ParseHostKey("ssh-ed25519 ***").ok());
}
TEST(SshWords, TheQuickCiphersComeFirstUnlessSomebodyHasChosen) {
  const std::string before_10 =
      "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,"
      "aes256-gcm@openssh.com";
  const std::string quicker = QuickerCiphers(before_10);
  if (quicker.empty()) GTEST_SKIP() << "planned: this processor has no AES";
  EXPECT_TRUE(quicker.starts_with("aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20"));
  EXPECT_EQ(std::count(quicker.begin(), quicker.end(), ','), 5) << "none is lost: " << quicker;

  TempFolder folder;
  const std::string file = folder.path() + "/config";
  ASSERT_TRUE(
      WriteFileAtomically(file, "Host a\n Ciphers aes256-ctr\n", 0600, Durability::kProcess).ok());
  const auto chosen = AskSshConfiguration({"-F", file, "a"});
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->ciphers, "aes256-ctr");
  EXPECT_EQ(QuickerCiphers(chosen->ciphers), "");
  const auto unchosen = AskSshConfiguration({"-F", file, "b"});
  ASSERT_TRUE(unchosen.ok());
  EXPECT_NE(QuickerCiphers(unchosen->ciphers), "") << unchosen->ciphers;
}

}  // namespace
}  // namespace tenon::transport
