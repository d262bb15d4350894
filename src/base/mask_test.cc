// SPDX-License-Identifier: Apache-2.0
#include "base/mask.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon {
namespace {

std::string FeedAll(Masker& masker, const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += masker.Feed(piece);
  return out + masker.Flush();
}

TEST(MaskTest, ASecretTornOverThreePiecesIsMasked) {
  Masker masker({"hunter22"});
  EXPECT_EQ(FeedAll(masker, {"password: hun", "ter", "22\n"}), "password: ***\n");
}

TEST(MaskTest, ASecretArrivingByteByByteIsMasked) {
  Masker masker({"hunter22", "other-secret"});
  std::vector<std::string> pieces;
  for (char c : std::string("a hunter22 b other-secret c hunter2")) pieces.emplace_back(1, c);
  EXPECT_EQ(FeedAll(masker, pieces), "a *** b *** c hunter2");
}

TEST(MaskTest, NothingOfASecretLeavesBeforeItIsDecided) {
  Masker masker({"hunter22"});
  EXPECT_EQ(masker.Feed("x hunter2"), "x ");
  EXPECT_TRUE(masker.holding());
  EXPECT_EQ(masker.Feed("2"), "***");
  EXPECT_FALSE(masker.holding());
}

TEST(MaskTest, ThePrefixOfASecretAtTheEndIsFlushed) {
  Masker masker({"hunter22"});
  EXPECT_EQ(masker.Feed("the hunter"), "the ");
  EXPECT_EQ(masker.Flush(), "hunter");
  EXPECT_EQ(masker.Flush(), "");
  EXPECT_EQ(masker.Feed("22"), "22");
}

TEST(MaskTest, TheLongerOfTwoSecretsWins) {
  Masker masker({"secret", "secret-long"});
  EXPECT_EQ(masker.Mask("secret-long secret-lo"), "*** ***-lo");
  EXPECT_EQ(FeedAll(masker, {"secret", "-lo", "ng secret-lo"}), "*** ***-lo");
}

TEST(MaskTest, OverlappingSecretsLeaveNoTailBehind) {
  Masker masker({"abcdef", "defghi"});
  EXPECT_EQ(masker.Mask("1abcdefghi2"), "1***2");
  EXPECT_EQ(FeedAll(masker, {"1abcdef", "gh", "i2"}), "1***2");
  EXPECT_EQ(FeedAll(masker, {"1abcdef", "gh", "x2"}), "1***ghx2");
  EXPECT_EQ(masker.Mask("abcdefabcdef"), "******");
}

TEST(MaskTest, ASecretInsideAnotherIsCovered) {
  Masker masker({"inside", "xxinsidexx"});
  EXPECT_EQ(masker.Mask("xxinsidexx"), "***");
  EXPECT_EQ(masker.Mask("xxinsidex"), "xx***x");
  EXPECT_EQ(FeedAll(masker, {"xxins", "idex"}), "xx***x");
}

TEST(MaskTest, ASecretBeginningLikeItselfIsFoundAfterAFalseStart) {
  Masker masker({"aaaaab"});
  EXPECT_EQ(masker.Mask("aaaaaaab"), "aa***");
  EXPECT_EQ(FeedAll(masker, {"aaaaa", "aa", "b"}), "aa***");
}

TEST(MaskTest, LongRunsDoNotGrowWhatIsHeld) {
  Masker masker({"aaaaaa"});
  std::string out;
  for (int i = 0; i < 1000; ++i) out += masker.Feed(std::string(997, 'a'));
  EXPECT_EQ(out + masker.Flush(), "***");
}

TEST(MaskTest, BytesThatAreNoTextAreMaskedToo) {
  Masker masker({std::string("\0\xff\n\0key", 7)});
  EXPECT_EQ(masker.Mask(std::string_view("a\0\xff\n\0keyb", 9)), "a***b");
}

TEST(MaskTest, WithoutSecretsTheInputPasses) {
  Masker none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.Feed("any"), "any");
  EXPECT_EQ(none.Flush(), "");
  Masker blank({""});
  EXPECT_TRUE(blank.empty());
  EXPECT_EQ(blank.Mask("any"), "any");
}

// --- the forms in which programs write a secret ---

constexpr const char* kOdd = "pa\"ss/wo\\rd é€\xf0\x9f\x98\x80'<&>+\n\tend";

TEST(MaskTest, ASecretInJsonIsMasked) {
  Masker masker({kOdd});
  // As Python's json.dumps writes it, with ensure_ascii and without, and as PHP and Go do.
  EXPECT_EQ(masker.Mask(R"({"a": "pa\"ss/wo\\rd \u00e9\u20ac\ud83d\ude00'<&>+\n\tend"})"),
            R"({"a": "***"})");
  EXPECT_EQ(masker.Mask(R"("pa\"ss/wo\\rd é€😀'<&>+\n\tend")"), R"("***")");
  EXPECT_EQ(masker.Mask(R"("pa\"ss\/wo\\rd \u00E9\u20AC\uD83D\uDE00'<&>+\n\tend")"), R"("***")");
  EXPECT_EQ(masker.Mask(R"("pa\"ss/wo\\rd é€😀'\u003c\u0026\u003e+\n\tend")"), R"("***")");
}

TEST(MaskTest, ASecretWrittenInCodePointsAloneIsMasked) {
  Masker masker({"hunter22"});
  EXPECT_EQ(masker.Mask(R"(x\u0068\u0075\u006e\u0074\u0065\u0072\u0032\u0032y)"), "x***y");
  EXPECT_EQ(masker.Mask(R"(x\x68unter\x32\U00000032y)"), "x***y");
  EXPECT_EQ(masker.Mask(R"(x\u0068unter23y)"), R"(x\u0068unter23y)");
}

TEST(MaskTest, ASecretInPythonsReprIsMasked) {
  Masker masker({kOdd});
  EXPECT_EQ(masker.Mask(R"('pa"ss/wo\\rd é€😀\'<&>+\n\tend')"), "'***'");
  // As Python's ascii() and the repr of bytes write it.
  EXPECT_EQ(masker.Mask(R"('pa"ss/wo\\rd \xe9\u20ac\U0001f600\'<&>+\n\tend')"), "'***'");
  EXPECT_EQ(masker.Mask(R"(b'pa"ss/wo\\rd \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\'<&>+\n\tend')"),
            "b'***'");
  EXPECT_EQ(Masker({"no\xfftext"}).Mask(R"('no\udcfftext')"), "'***'");
}

TEST(MaskTest, ASecretInAnAddressIsMasked) {
  Masker masker({kOdd});
  EXPECT_EQ(
      masker.Mask("?q=pa%22ss%2Fwo%5Crd%20%C3%A9%E2%82%AC%F0%9F%98%80%27%3C%26%3E%2B%0A%09end&"),
      "?q=***&");
  EXPECT_EQ(masker.Mask("?q=pa%22ss/wo%5crd+%c3%a9%e2%82%ac%f0%9f%98%80'%3c%26%3e%2b%0a%09end&"),
            "?q=***&");
  Masker plus({"a+b c+d e"});
  EXPECT_EQ(plus.Mask("a%2Bb+c%2Bd+e a+b%20c+d%20e a+b c+d e"), "*** *** ***");
}

TEST(MaskTest, BackslashesAndPercentSignsOfASecretItself) {
  Masker masker({"a\\nb\\\\c%20d"});
  EXPECT_EQ(masker.Mask("<a\\nb\\\\c%20d>"), "<***>");
  EXPECT_EQ(masker.Mask("<a\\\\nb\\\\\\\\c%20d>"), "<***>");
  EXPECT_EQ(masker.Mask("<a%5Cnb%5C%5Cc%2520d>"), "<***>");
  EXPECT_EQ(masker.Mask("<a\nb>"), "<a\nb>");
}

TEST(MaskTest, ASecretInOctalAndWithSignsEscapedIsMasked) {
  Masker masker({kOdd});
  // As git and bash's printf %q write it.
  EXPECT_EQ(masker.Mask(R"("pa\"ss/wo\\rd \303\251\342\202\254\360\237\230\200'<&>+\n\tend")"),
            R"("***")");
  // As re.escape writes it, and as a word is given to a shell without quotes.
  EXPECT_EQ(Masker({"pa$s w.o+r'd"}).Mask(R"(pa\$s\ w\.o\+r\'d)"), "***");
  EXPECT_EQ(Masker({"$igned-word"}).Mask(R"(x\$igned\-wordy)"), "x***y");
  EXPECT_EQ(Masker({"\xc3\xa9t\xc3\xa9 2017"}).Mask(R"(x\303\251t\303\251 2017y)"), "x***y");
  EXPECT_EQ(masker.Mask(R"(\303\25 \9 \400)"), R"(\303\25 \9 \400)");
}

TEST(MaskTest, ASecretInBase64IsMaskedWhereverItStoodInTheText) {
  // base64 of "hunter22", "a:hunter22", "ab:hunter22" and "abc:hunter22!?" (Authorization: Basic).
  Masker masker({"hunter22"});
  EXPECT_EQ(masker.Mask("aHVudGVyMjI="), "***I=");
  EXPECT_EQ(masker.Mask("YTpodW50ZXIyMg=="), "YTp***g==");
  EXPECT_EQ(masker.Mask("YWI6aHVudGVyMjI="), "YWI6***I=");
  EXPECT_EQ(masker.Mask("YWJjOmh1bnRlcjIyIT8="), "YWJjOm***IT8=");
  EXPECT_EQ(FeedAll(masker, {"YTpodW5", "0ZXIy", "Mg=="}), "YTp***g==");
  EXPECT_EQ(masker.Mask("aHVudGVxMjI="), "aHVudGVxMjI=");
  // Both alphabets.
  Masker odd({"\xfb\xff\xfe>>??"});
  EXPECT_EQ(odd.Mask("+//+Pj4/Pw== -__-Pj4_Pw=="), "***w== ***w==");
  EXPECT_GE(masker.shortest(), 8u);
}

TEST(MaskTest, ASecretIsMaskedWithoutItsLineEnd) {
  Masker masker({"hunter22\n", "windows-one\r\n"});
  EXPECT_EQ(masker.Mask("a hunter22 b"), "a *** b");
  EXPECT_EQ(masker.Mask("a windows-one b"), "a *** b");
  EXPECT_EQ(masker.Mask("a hunter22\nb"), "a ***b");
  EXPECT_EQ(masker.Mask(R"("hunter22\n")"), R"("***")");
  EXPECT_TRUE(IsMaskable("hunter\n"));
  EXPECT_FALSE(IsMaskable("hunte\n"));
}

TEST(MaskTest, EachLineOfAKeyIsMaskedButNotItsFrame) {
  const std::string key =
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg/kq+hk\r\n  G9w0BAQEFAASC  \nshort\n"
      "-----END PRIVATE KEY-----\n";
  Masker masker({key});
  EXPECT_EQ(masker.Mask("1 MIIEvQIBADANBg/kq+hk 2 G9w0BAQEFAASC 3 short"), "1 *** 2 *** 3 short");
  EXPECT_EQ(masker.Mask("-----BEGIN PRIVATE KEY----- -----END PRIVATE KEY-----"),
            "-----BEGIN PRIVATE KEY----- -----END PRIVATE KEY-----");
  EXPECT_EQ(masker.Mask("MIIEvQIBADANBg\\/kq+hk MIIEvQIBADANBg%2Fkq%2Bhk"), "*** ***");
  EXPECT_EQ(masker.Mask("<" + key + ">"), "<***>");
}

TEST(MaskTest, AnEscapedSecretTornOverPiecesIsMasked) {
  for (const std::string& text :
       {std::string(R"({"a":"pa\"ss/wo\\rd \u00e9\u20ac\ud83d\ude00'<&>+\n\tend"} 50%)"),
        std::string("x=pa%22ss%2Fwo%5Crd+%C3%A9%E2%82%AC%F0%9F%98%80%27%3C%26%3E%2B%0A%09end&y \\"),
        std::string(R"(b'pa"ss/wo\\rd \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\'<&>+\n\tend' \u)")}) {
    Masker masker({kOdd});
    const std::string whole = masker.Mask(text);
    EXPECT_NE(whole.find("***"), std::string::npos) << whole;
    EXPECT_LT(whole.size(), 18u) << whole;
    for (size_t cut = 0; cut <= text.size(); ++cut) {
      EXPECT_EQ(FeedAll(masker, {text.substr(0, cut), text.substr(cut)}), whole) << cut;
    }
    std::vector<std::string> bytes;
    for (char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(FeedAll(masker, bytes), whole);
  }
}

TEST(MaskTest, AKeyOfManyLinesIsFoundInEach) {
  std::string key;
  for (int i = 0; i < 5000; ++i) key += "line-number-" + std::to_string(10'000 + i) + "\n";
  Masker masker({key});
  EXPECT_EQ(masker.shortest(), std::string("line-number-10000").size());
  EXPECT_EQ(masker.Mask("a line-number-12345 b line-number-99999"), "a *** b line-number-99999");
}

// What the contract demands, computed slowly and plainly.
std::string Expected(const std::string& text, const std::vector<std::string>& secrets) {
  std::string out;
  size_t covered = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t match = 0;
    for (const std::string& secret : secrets) {
      if (text.compare(i, secret.size(), secret) == 0) match = std::max(match, secret.size());
    }
    if (match > 0 && i >= covered) out += "***";
    if (match > 0) covered = std::max(covered, i + match);
    if (i >= covered) out += text[i];
  }
  return out;
}

TEST(MaskTest, TheWayAStreamIsCutDoesNotMatter) {
  std::mt19937 random(7);
  auto word = [&](size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += "ab"[random() % 2];
    return text;
  };
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> secrets;
    for (size_t i = 0; i < 1 + random() % 3; ++i) secrets.push_back(word(1 + random() % 6));
    Masker masker(secrets);
    std::string text = word(random() % 40), out;
    std::string expected = Expected(text, secrets);
    ASSERT_EQ(masker.Mask(text), expected) << text;
    for (size_t pos = 0; pos < text.size();) {
      size_t n = 1 + random() % 5;
      out += masker.Feed(std::string_view(text).substr(pos, n));
      pos += n;
    }
    ASSERT_EQ(out + masker.Flush(), expected) << text;
  }
}

}  // namespace
}  // namespace tenon
