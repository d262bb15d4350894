// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/ignore.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::snapshot {
namespace {

bool Ignored(std::string_view rules, std::string_view path, bool is_folder = false) {
  return IgnoreRules::Parse(rules).Match(path, is_folder) == Verdict::kIgnored;
}
bool Glob1(std::string_view pattern, std::string_view text) {
  return Glob::Compile(pattern).Matches(text);
}

TEST(Ignore, EmptyFileIgnoresNothing) {
  EXPECT_FALSE(Ignored("", "a"));
  EXPECT_FALSE(Ignored("\n\n\r\n# comment\n!\n/\n//\n", "a", true));
}

TEST(Ignore, NameWithoutSlashMatchesAtAnyDepth) {
  EXPECT_TRUE(Ignored("build\n", "build"));
  EXPECT_TRUE(Ignored("build\n", "a/b/build"));
  EXPECT_FALSE(Ignored("build\n", "builds"));
  EXPECT_FALSE(Ignored("build\n", "build/a"));  // only its folder is left out
}

TEST(Ignore, SlashAtFrontOrInTheMiddleAnchors) {
  EXPECT_TRUE(Ignored("/a\n", "a"));
  EXPECT_FALSE(Ignored("/a\n", "b/a"));
  EXPECT_TRUE(Ignored("b/a\n", "b/a"));
  EXPECT_FALSE(Ignored("b/a\n", "c/b/a"));
}

TEST(Ignore, SlashAtTheEndMeansFoldersOnly) {
  EXPECT_TRUE(Ignored("x/\n", "x", true));
  EXPECT_FALSE(Ignored("x/\n", "x", false));
  EXPECT_TRUE(Ignored("x/\n", "deep/x", true));
}

TEST(Ignore, LastMatchingLineWins) {
  EXPECT_FALSE(Ignored("*.log\n!keep.log\n", "keep.log"));
  EXPECT_TRUE(Ignored("*.log\n!keep.log\nkeep.*\n", "keep.log"));
  EXPECT_TRUE(Ignored("!keep.log\n*.log\n", "keep.log"));
  EXPECT_EQ(IgnoreRules::Parse("!a\n").Match("a", false), Verdict::kKept);
}

TEST(Ignore, FoldersOnlyLineBehindDoesNotHideTheOneBefore) {
  EXPECT_TRUE(Ignored("x\n!x/\n", "x", false));
  EXPECT_FALSE(Ignored("x\n!x/\n", "x", true));
}

TEST(Ignore, BlanksAtTheEndGoUnlessEscaped) {
  EXPECT_TRUE(Ignored("a  \n", "a"));
  EXPECT_FALSE(Ignored("a\\ \n", "a"));
  EXPECT_TRUE(Ignored("a\\ \n", "a "));
  EXPECT_TRUE(Ignored("a\\  \n", "a "));
  EXPECT_TRUE(Ignored("a\t\n", "a\t"));  // a tab is part of the name
}

TEST(Ignore, ByteOrderMarkAndCarriageReturnsAreNotPartOfAName) {
  EXPECT_TRUE(
      Ignored("\xef\xbb\xbf"
              "a\r\nb\r\n",
              "a"));
  EXPECT_TRUE(
      Ignored("\xef\xbb\xbf"
              "a\r\nb\r",
              "b"));
  EXPECT_FALSE(
      Ignored("a\n\xef\xbb\xbf"
              "b\n",
              "b"));
}

TEST(Ignore, EscapedHashAndBangAreNames) {
  EXPECT_TRUE(Ignored("\\#a\n\\!b\n", "#a"));
  EXPECT_TRUE(Ignored("\\#a\n\\!b\n", "!b"));
  EXPECT_FALSE(Ignored("#a\n", "#a"));
}

TEST(Ignore, UpperCaseIsAnotherName) { EXPECT_FALSE(Ignored("Build\n*.TXT\n", "build")); }

TEST(Ignore, NearerFileDecides) {
  auto top = std::make_shared<IgnoreScope>();
  top->rules = IgnoreRules::Parse("*.csv\n/only\n");
  IgnoreScope inner{top, 4, IgnoreRules::Parse("!keep.csv\n/here\n")};
  EXPECT_EQ(MatchScopes(&inner, "sub/keep.csv", false), Verdict::kKept);
  EXPECT_EQ(MatchScopes(&inner, "sub/other.csv", false), Verdict::kIgnored);
  EXPECT_EQ(MatchScopes(&inner, "sub/here", false), Verdict::kIgnored);
  EXPECT_EQ(MatchScopes(&inner, "sub/only", false), Verdict::kNone);
  EXPECT_EQ(MatchScopes(nullptr, "sub/only", false), Verdict::kNone);
}

TEST(Glob, StarStaysWithinAFolder) {
  EXPECT_TRUE(Glob1("*/x", "a/x"));
  EXPECT_FALSE(Glob1("*/x", "a/b/x"));
  EXPECT_FALSE(Glob1("a*c", "ab/c"));
  EXPECT_FALSE(Glob1("a?c", "a/c"));
  EXPECT_FALSE(Glob1("a[!b]c", "a/c"));
}

TEST(Glob, DoubleStarStandsForWholeFolders) {
  EXPECT_TRUE(Glob1("**/x", "x"));
  EXPECT_TRUE(Glob1("**/x", "a/b/x"));
  EXPECT_FALSE(Glob1("**/x", "ax"));
  EXPECT_TRUE(Glob1("a/**/b", "a/b"));
  EXPECT_TRUE(Glob1("a/**/b", "a/x/y/b"));
  EXPECT_TRUE(Glob1("a/**", "a/x/y"));
  EXPECT_FALSE(Glob1("a/**", "a"));
  EXPECT_FALSE(Glob1("a/x**/b", "a/xy/z/b"));  // not a whole folder, so an ordinary star
  EXPECT_TRUE(Glob1("a/**/b/**/c", "a/b/b/x/c"));
  EXPECT_TRUE(Glob1("**/a*b/**/c", "x/aXb/y/aQb/c"));
}

TEST(Glob, Classes) {
  EXPECT_TRUE(Glob1("[a-c]", "b"));
  EXPECT_FALSE(Glob1("[!a-c]", "b"));
  EXPECT_FALSE(Glob1("[^a-c]", "b"));
  EXPECT_TRUE(Glob1("[]-]", "]"));
  EXPECT_TRUE(Glob1("[]-]", "-"));
  EXPECT_TRUE(Glob1("[a\\]]", "]"));
  EXPECT_TRUE(Glob1("[[:digit:]x]", "7"));
  EXPECT_TRUE(Glob1("[[:digit:]x]", "x"));
  EXPECT_TRUE(Glob1("[[:upper:][:digit:]]", "Q"));
  EXPECT_TRUE(Glob1("[\xe0-\xff]", "\xe9"));
}

TEST(Glob, MalformedPatternsMatchNothing) {
  EXPECT_FALSE(Glob1("[a", "a"));
  EXPECT_FALSE(Glob1("[a", "[a"));
  EXPECT_FALSE(Glob1("a\\", "a"));
  EXPECT_FALSE(Glob1("a\\", "a\\"));
  EXPECT_FALSE(Glob1("[[:nosuch:]]", "a"));
  EXPECT_FALSE(Glob1("*[", "x["));
}

TEST(Glob, HostilePatternIsNotExponential) {
  std::string pattern, text(4000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "a*";
  pattern += "b";
  EXPECT_FALSE(Glob1(pattern, text));
  std::string deep, path;
  for (int i = 0; i < 100; ++i) deep += "**/a*/";
  deep += "b";
  for (int i = 0; i < 1000; ++i) path += "aa/";
  EXPECT_FALSE(Glob1(deep, path + "c"));
}

}  // namespace
}  // namespace tenon::snapshot
