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

// The slow, plain reading of the contract.
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
