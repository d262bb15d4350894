// SPDX-License-Identifier: Apache-2.0
#include "cli/print/print.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tenon::cli {
namespace {

std::vector<std::string> Lines(const Table& table, int width = 0) {
  std::vector<std::string> lines = Split(table.ToText(width, false), '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  return lines;
}

TEST(Table, NumbersThatDoNotMeetAtTheDecimalPoint) {
  Table table({{"Loss", true}, {"Name"}});
  table.Add({"0.5", "a"});
  table.Add({"12.25", "b"});
  table.Add({"-3", "c"});
  table.Add({"", "d"});
  table.Add({"1e-05", "e"});
  EXPECT_EQ(Lines(table), (std::vector<std::string>{
                              "Loss    Name",
                              "------  ----",
                              " 0.5    a",
                              "12.25   b",
                              "-3      c",
                              "        d",
                              " 1e-05  e",
                          }));
}

TEST(Table, TextAfterWideCharactersOutOfLine) {
  Table table({{"Name"}, {"Value"}});
  table.Add({"日本", "x"});     // two columns each
  table.Add({"e\u0301", "y"});  // a combining accent takes none
  table.Add({"plain", "z"});
  EXPECT_EQ(Lines(table), (std::vector<std::string>{
                              "Name   Value",
                              "-----  -----",
                              "日本   x",
                              "e\u0301      y",
                              "plain  z",
                          }));
}

TEST(Table, LineLongerThanTheTerminal) {
  Table table({{"Id"}, {"Text"}, {"N", true}});
  table.Add({"a", std::string(100, 'x'), "1.5"});
  table.Add({"b", "short", "22.5"});
  for (const std::string& line : Lines(table, 40)) EXPECT_LE(DisplayWidth(line), 40u) << line;
  const std::string row = Lines(table, 40)[2];
  EXPECT_NE(row.find("xxx…"), std::string::npos) << row;
  EXPECT_TRUE(row.ends_with(" 1.5")) << row;
  EXPECT_NE(Lines(table)[2].find(std::string(100, 'x')), std::string::npos)
      << "cut without a terminal";
}

TEST(Table, CutInTheMiddleOfACharacter) {
  std::string wide;
  for (int i = 0; i < 40; ++i) wide += "日";
  Table table({{"Text"}, {"N", true}});
  table.Add({wide, "1"});
  for (int width = 20; width < 40; ++width) {
    const std::string row = Lines(table, width)[2];
    EXPECT_TRUE(IsUtf8(row)) << width;
    EXPECT_LE(DisplayWidth(row), static_cast<size_t>(width));
    EXPECT_TRUE(row.ends_with("1")) << row;
  }
}

TEST(Table, TextAmongNumbersPushesThemAside) {
  Table table({{"Last", true}});
  table.Add({"0.5"});
  table.Add({"some text"});
  table.Add({"-12.25"});
  table.Add({"nan"});
  EXPECT_EQ(Lines(table),
            (std::vector<std::string>{"Last", "---------", "  0.5", "some text", "-12.25", "nan"}));
}

TEST(Table, NumbersAreNeverCut) {
  Table table({{"A", true}, {"B", true}});
  table.Add({"123456789012345678901234567890", "123456789012345678901234567890"});
  EXPECT_NE(Lines(table, 20)[2].find("123456789012345678901234567890"), std::string::npos);
}

TEST(Table, CellThatBreaksTheLine) {
  Table table({{"A"}, {"B"}});
  table.Add({"one\ntwo\tthree\rfour", "b"});
  EXPECT_EQ(Lines(table)[2], "one two three four  b");
  EXPECT_EQ(table.ToTsv(), "one two three four\tb\n");
}

TEST(Table, TsvThatLosesEmptyCells) {
  Table table({{"A"}, {"B", true}, {"C"}});
  table.Add({"", "1.0", ""});
  EXPECT_EQ(table.ToTsv(), "\t1.0\t\n");
}

TEST(Table, TrailingBlanks) {
  Table table({{"A"}, {"B"}});
  table.Add({"a", ""});
  for (const std::string& line : Lines(table)) EXPECT_FALSE(line.ends_with(' ')) << line;
}

TEST(Print, TextFromElsewhereThatSteersTheTerminal) {
  EXPECT_EQ(Rendered("a\033[31mb\033]0;x\007\r\x7f"), "a\\x1b[31mb\\x1b]0;x\\x07\\x0d\\x7f");
  EXPECT_EQ(Rendered("\xc2\x9b"
                     "2J\x9b"
                     "2J"),
            "\\x9b2J\xef\xbf\xbd"
            "2J");
  EXPECT_EQ(Rendered("\u202egpj.\u2066\u200b\ufeff"), "\\u202egpj.\\u2066\\u200b\\ufeff");
  EXPECT_EQ(Rendered("a\n\tb"), "a\n\tb");
}

TEST(Print, ForeignSequencesBesideOurOwnStyles) {
  const std::string styled = Styled("a\033[1mb", Style::kRed, true) + "\033[0m";
  EXPECT_EQ(Rendered(styled), "\033[31ma\\x1b[1mb\033[0m\\x1b[0m");
  // A text that imitates the beginning of a style does not contain this process's random mark.
  EXPECT_EQ(Rendered("\0330123456789abcdef[31m").find('\033'), std::string::npos);
}

TEST(Print, LinesThatPassForOurs) {
  EXPECT_EQ(Hanging("it failed\nhint: rm -rf /"), "it failed\n  hint: rm -rf /");
  EXPECT_EQ(Hanging("at\n  [x\n    ^\n"), "at\n  [x\n    ^\n");
}

TEST(Table, TitleOrCellThatSteersTheTerminal) {
  Table table({{"A\033[2J\nB"}});
  table.Add({"\u202e\033[8m"});
  EXPECT_EQ(Lines(table)[0], "A\\x1b[2J B");
  EXPECT_EQ(Lines(table)[2], "\\u202e\\x1b[8m");
}

TEST(Styled, EscapesWithoutATerminal) {
  EXPECT_EQ(Styled("text", Style::kRed, false), "text");
  EXPECT_EQ(Rendered(Styled("text", Style::kRed, true)), "\033[31mtext\033[0m");
}

}  // namespace
}  // namespace tenon::cli
