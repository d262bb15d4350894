// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <set>

#include "base/in_child.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "base/terminal.h"

namespace tenon {
namespace {

TEST(TextTest, SplitKeepsEmptyPartsAndJoinUndoesIt) {
  EXPECT_EQ(Split("a::b:", ':'), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ':'), std::vector<std::string>{""});
  EXPECT_EQ(Join(Split("a::b:", ':'), ":"), "a::b:");
  EXPECT_EQ(Join({}, ","), "");
}

TEST(TextTest, TrimAndLowerTouchOnlyAscii) {
  EXPECT_EQ(Trim(" \t\r\nx y\n "), "x y");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(ToLower("ÄBC"), "Äbc");
}

TEST(TextTest, SizesNeverShowAThousandOfAUnit) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(812), "812 B");
  EXPECT_EQ(HumanBytes(1000), "1.0 KB");
  EXPECT_EQ(HumanBytes(1449), "1.4 KB");
  EXPECT_EQ(HumanBytes(999'949), "999.9 KB");
  EXPECT_EQ(HumanBytes(999'950), "1.0 MB");
  EXPECT_EQ(HumanBytes(3'200'000'000), "3.2 GB");
  EXPECT_EQ(HumanBytes(UINT64_MAX), "18.4 EB");
  EXPECT_EQ(Count(1, "file", "files"), "1 file");
  EXPECT_EQ(Count(0, "file", "files"), "0 files");
}

TEST(TextTest, DidYouMeanFindsTyposAndOnlyTypos) {
  const std::vector<std::string> words = {"submit", "status", "cancel", "logs", "ps", "runs"};
  EXPECT_EQ(DidYouMean("sumbit", words), "submit");
  EXPECT_EQ(DidYouMean("SUBMIT", words), "submit");
  EXPECT_EQ(DidYouMean("stats", words), "status");
  EXPECT_EQ(DidYouMean("log", words), "logs");
  EXPECT_EQ(DidYouMean("cancle", words), "cancel");
  EXPECT_EQ(DidYouMean("frobnicate", words), std::nullopt);
  EXPECT_EQ(DidYouMean("x", words), std::nullopt);
  EXPECT_EQ(DidYouMean("", words), std::nullopt);
  EXPECT_EQ(DidYouMean("submit", {}), std::nullopt);
  const std::vector<std::string> keys = {"Framework", "PrepareEnvironment"};
  EXPECT_EQ(DidYouMean("framwork", keys), "Framework");
}

TEST(Utf8Test, OverlongSurrogatesAndTooLargeAreInvalid) {
  for (const char* good : {"", "a", "é", "€", "😀", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xfe", "\xff", "a\xc3(b"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(Utf8Test, EveryCharacterGoesBackAndForth) {
  for (char32_t code = 0; code <= 0x10ffff; code += code < 0x900 ? 1 : 37) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    AppendUtf8(text, code);
    Utf8Char back = NextUtf8(text);
    ASSERT_TRUE(back.valid);
    ASSERT_EQ(back.code, code);
    ASSERT_EQ(back.length, text.size());
  }
}

TEST(Utf8Test, OneReplacementStandsForOneTornCharacter) {
  EXPECT_EQ(ForTerminal("a\xf0\x9f\x98z"), "a\xef\xbf\xbdz");
  EXPECT_EQ(ForTerminal("\xe2\x82\xe2\x82\xac"), "\xef\xbf\xbd€");
  EXPECT_EQ(ForTerminal("\xff\xff"), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Utf8Test, NothingThatSteersATerminalPasses) {
  EXPECT_EQ(ForTerminal("a\x1b[31mb\r\a\n\t"), "a\\x1b[31mb\\x0d\\x07\n\t");
  EXPECT_EQ(ForTerminal("\x7f\xc2\x9b"
                        "31m"),
            "\\x7f\\x9b31m");
  EXPECT_EQ(ForTerminal(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(ForTerminal("naïve 日本"), "naïve 日本");
}

TEST(Utf8Test, NothingThatHidesOrTurnsATextPasses) {
  EXPECT_EQ(ForTerminal("\u202e\u2066\u2069\u200e\u200f\u061c"),
            "\\u202e\\u2066\\u2069\\u200e\\u200f\\u061c");
  EXPECT_EQ(ForTerminal("a\u200b\u200d\ufeff\u2028\u00ad"), "a\\u200b\\u200d\\ufeff\\u2028\\u00ad");
  EXPECT_EQ(ForTerminal("\U000e0041"), "\\U000e0041");
  const std::string once = ForTerminal("\033\u202e\xff");
  EXPECT_EQ(ForTerminal(once), once);
}

TEST(Utf8Test, OneLineStaysOne) { EXPECT_EQ(OneLine("a\nb\tc\rd\033"), "a b c d\\x1b"); }

TEST(Utf8Test, ColumnsAreCountedAsATerminalDrawsThem) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("é"), 1u);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1u);
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(DisplayWidth("😀"), 2u);
  EXPECT_EQ(DisplayWidth("한"), 2u);
  EXPECT_EQ(DisplayWidth("─█▁"), 3u);
  EXPECT_EQ(DisplayWidth("\xff"), 1u);
  EXPECT_EQ(DisplayWidth(""), 0u);
}

TEST(TextTest, ShellQuotedWordsReachAShellUnchanged) {
  EXPECT_EQ(ShellQuote("plain-1.0/x=y"), "plain-1.0/x=y");
  EXPECT_EQ(ShellQuote(""), "''");
  for (const char* word : {"", "a b", "it's", "$HOME", "`id`", "a\nb", "*", "~", "\\", "!x", "\xff",
                           "a;b", "#x", "--x='y'", "a\"b", "{a,b}", "[x]", "a&b", "<>|()"}) {
    auto out = RunAndCapture({"/bin/sh", "-c", "printf %s " + ShellQuote(word)}, "/");
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(out->out, word);
  }
}

TEST(TextTest, DurationsAreReadOrRefusedNeverGuessed) {
  constexpr int64_t kSecond = 1'000'000;
  EXPECT_EQ(ParseDuration("90"), 90 * kSecond);
  EXPECT_EQ(ParseDuration("0"), 0);
  EXPECT_EQ(ParseDuration("90s"), 90 * kSecond);
  EXPECT_EQ(ParseDuration("10m"), 600 * kSecond);
  EXPECT_EQ(ParseDuration("2h"), 7200 * kSecond);
  EXPECT_EQ(ParseDuration("1d"), 86400 * kSecond);
  EXPECT_EQ(ParseDuration("1h30m"), 5400 * kSecond);
  EXPECT_EQ(ParseDuration("1d2h3m4s"), 93784 * kSecond);
  for (const char* bad : {"", "h", "-1", "1.5h", "1h30", "30m1h", "1h1h", "1w", "1 h", "s1", "1hm",
                          "99999999999999999999", "9223372036854775807", "200000000d", " 1"}) {
    EXPECT_EQ(ParseDuration(bad), std::nullopt) << bad;
  }
}

TEST(TextTest, UuidsAreVersionFourAndDiffer) {
  std::set<std::string> seen, variants;
  for (int i = 0; i < 2000; ++i) {
    std::string uuid = NewUuid();
    ASSERT_EQ(uuid.size(), 36u);
    for (size_t at : {8, 13, 18, 23}) ASSERT_EQ(uuid[at], '-');
    ASSERT_EQ(uuid[14], '4');
    variants.insert(uuid.substr(19, 1));
    ASSERT_EQ(uuid.find_first_not_of("0123456789abcdef-"), std::string::npos);
    ASSERT_TRUE(seen.insert(uuid).second);
  }
  EXPECT_EQ(variants, (std::set<std::string>{"8", "9", "a", "b"}));
  EXPECT_EQ(RandomHex(5).size(), 10u);
  EXPECT_EQ(RandomHex(0), "");
}

// From now on getrandom(2) answers as on Linux 3.10, which does not have it. Returns false where
// the system does not allow seccomp.
bool ForgetGetrandom() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(filter), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         ::syscall(SYS_getrandom, nullptr, 0, 0) < 0 && errno == ENOSYS;
}

TEST(TextTest, UuidsDifferOnAnOldKernel) {
  EXPECT_EQ(InChild([]() -> std::string {
              if (!ForgetGetrandom()) return "no seccomp";
              return NewUuid() != NewUuid() && RandomHex(40) != std::string(80, '0') ? "" : "equal";
            }),
            "");
}

TEST(TextTest, UuidsDifferOnAnOldKernelInARootWithoutDevices) {
  TempFolder empty;
  auto two = [&] {
    return InChild([&]() -> std::string {
      if (!OwnMounts() || ::chroot(empty.path().c_str()) != 0) return "cannot chroot";
      if (!ForgetGetrandom()) return "no seccomp";
      return NewUuid() + NewUuid();
    });
  };
  std::string first = two(), second = two();
  if (first == "cannot chroot") GTEST_SKIP() << "planned: needs root or user namespaces";
  ASSERT_EQ(first.size(), 72u) << first;
  ASSERT_EQ(second.size(), 72u) << second;
  EXPECT_NE(first.substr(0, 36), first.substr(36));
  EXPECT_NE(first.substr(0, 36), second.substr(0, 36));
}

}  // namespace
}  // namespace tenon
