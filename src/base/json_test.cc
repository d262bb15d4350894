// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/json_limits.h"
#include "base/shown_bytes.h"
#include "base/text.h"

namespace tenon::json {
namespace {

std::string ErrorOf(std::string_view text) {
  auto result = Parse(text);
  if (result.ok()) return "parsed";
  EXPECT_EQ(result.error().kind, ErrorKind::kInvalid);
  return result.error().message;
}

std::string Again(std::string_view text) {
  auto value = Parse(text);
  return value.ok() ? Print(*value) : value.error().message;
}

TEST(JsonTest, KeepsOrderAndKinds) {
  EXPECT_EQ(Again(R"( {"z": 1, "a": [true, false, null, -2.5, "x"], "m": {}, "n": []} )"),
            R"({"z":1,"a":[true,false,null,-2.5,"x"],"m":{},"n":[]})");
}

TEST(JsonTest, TrailingJunkIsRefusedWithLineAndColumn) {
  EXPECT_EQ(ErrorOf("{\"a\": 1}\n  x"), "JSON, line 2, column 3: text after the end of the value");
  EXPECT_EQ(ErrorOf("1 2"), "JSON, line 1, column 3: text after the end of the value");
}

TEST(JsonTest, BrokenTextIsRefusedWhereItBreaks) {
  EXPECT_EQ(ErrorOf(""), "JSON, line 1, column 1: the text ends where a value should be");
  EXPECT_EQ(ErrorOf("[1,"), "JSON, line 1, column 4: the text ends where a value should be");
  EXPECT_EQ(ErrorOf("[1 2]"), "JSON, line 1, column 4: a comma or ] should be here");
  EXPECT_EQ(ErrorOf("{\"a\" 1}"),
            "JSON, line 1, column 6: a colon should follow the member's name");
  EXPECT_EQ(ErrorOf("{\n a: 1}"),
            "JSON, line 2, column 2: a member's name in double quotes should be here");
  EXPECT_EQ(ErrorOf("[\"abc"), "JSON, line 1, column 2: this string does not end");
  EXPECT_EQ(ErrorOf("\"a\nb\""), "JSON, line 1, column 3: a control character in a string");
  EXPECT_EQ(ErrorOf("\"\xff\""), "JSON, line 1, column 2: bytes that are not UTF-8");
  EXPECT_EQ(ErrorOf("\"\\x\""), "JSON, line 1, column 2: an unknown escape in a string");
  for (const char* bad :
       {"nul", "tru", "[1,]", "{\"a\":1,}", "'a'", "\"\\", "\"\\u12", "\"\\u12g4\"", "{", "[",
        "{\"a\":", "{\"a\"", "\"", "]", "\xef\xbb\xbf{}"}) {
    EXPECT_NE(ErrorOf(bad), "parsed") << bad;
  }
}

TEST(JsonTest, NumbersOutsideTheGrammarAreRefused) {
  for (const char* bad : {"NaN", "Infinity", "-Infinity", "inf", "01", "-", "+1", "1.", ".5", "1e",
                          "1e+", "0x10", "1_000", "--1", "-01"}) {
    EXPECT_NE(ErrorOf(bad), "parsed") << bad;
  }
  EXPECT_EQ(ErrorOf("1e999"), "JSON, line 1, column 1: the number is too large");
  EXPECT_EQ(ErrorOf("-1e999"), "JSON, line 1, column 1: the number is too large");
}

TEST(JsonTest, AKeyGivenTwiceIsRefused) {
  EXPECT_EQ(ErrorOf("{\"a\": 1,\n \"a\": 2}"),
            "JSON, line 2, column 2: the name \"a\" is there twice");
  EXPECT_NE(ErrorOf(R"({"a": 1, "\u0061": 2})"), "parsed");
}

TEST(JsonTest, ADepthBombIsRefusedNotFollowed) {
  std::string bomb(1'000'000, '[');
  EXPECT_EQ(ErrorOf(bomb), "JSON, line 1, column 65: nested more than 64 levels deep");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(ErrorOf(objects).find("nested more than 64 levels"), std::string::npos);
  std::string fits = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(Parse(fits).ok());
  EXPECT_FALSE(Parse(fits, 63).ok());
}

TEST(JsonTest, IntegersKeepEveryDigit) {
  EXPECT_EQ(Again("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Again("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Again("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Again("18446744073709551616"), "1.8446744073709552e+19");
}

TEST(JsonTest, DoublesPrintAsPythonPrintsThem) {
  const std::pair<double, const char*> cases[] = {
      {5.0, "5.0"},
      {-0.0, "-0.0"},
      {0.1, "0.1"},
      {100000.0, "100000.0"},
      {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},
      {1.5e300, "1.5e+300"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {123456.789, "123456.789"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(Print(Value(value)), text);
}

TEST(JsonTest, EveryDoubleComesBackBitForBit) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    auto back = Parse(Print(Value(value)));
    ASSERT_TRUE(back.ok() && back->is_double()) << Print(Value(value));
    ASSERT_EQ(std::memcmp(&back->get_double(), &value, sizeof value), 0) << Print(Value(value));
  }
  EXPECT_EQ(Parse("1e-999")->get_double(), 0.0);
  EXPECT_EQ(Parse("4.9e-324")->get_double(), 5e-324);
}

TEST(JsonTest, NanAndInfinityPrintAsNull) {
  Array array{std::nan(""), std::numeric_limits<double>::infinity(), -INFINITY};
  EXPECT_EQ(Print(array), "[null,null,null]");
}

TEST(JsonTest, StringsAreEscapedAndBadUtf8Replaced) {
  EXPECT_EQ(Print(Value("a\"\\\n\r\t\b\f\x01\x1f/é")), R"("a\"\\\n\r\t\b\f\u0001\u001f/é")");
  EXPECT_EQ(Print(Value(boost::json::string(std::string_view("\0x", 2)))), R"("\u0000x")");
  EXPECT_EQ(Print(Value("\xff!\xe2\x82")), "\"\xef\xbf\xbd!\xef\xbf\xbd\"");
  Object object;
  object["k\xfe"] = 1;
  EXPECT_EQ(Print(object), "{\"k\xef\xbf\xbd\":1}");
}

TEST(JsonTest, EscapesBecomeTheirCharacters) {
  EXPECT_EQ(Parse(R"("\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t\u0000")")->get_string(),
            boost::json::string(std::string_view("é😀/\"\\\b\f\n\r\t\0", 15)));
  for (const char* lone : {R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", R"("\ud83dx")"}) {
    EXPECT_NE(ErrorOf(lone), "parsed") << lone;
  }
}

TEST(JsonTest, PrettyIsIndentedByTwo) {
  EXPECT_EQ(PrintPretty(*Parse(R"({"a":[1,{"b":"x"}],"c":{},"d":[]})")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x\"\n    }\n  ],\n  \"c\": {},\n  \"d\": "
            "[]\n}");
  std::string color = PrintPretty(*Parse(R"({"a":"x"})"), true);
  EXPECT_EQ(color, "{\n  \x1b[94m\"a\"\x1b[39;49;00m: \x1b[33m\"x\"\x1b[39;49;00m\n}");
}

TEST(JsonTest, GettersAnswerOtherwiseForAbsentAndWrongKinds) {
  Object object =
      Parse(R"({"s":"x","i":3,"d":2.5,"b":true,"o":{},"a":[],"u":18446744073709551615})")
          ->get_object();
  EXPECT_EQ(GetString(object, "s"), "x");
  EXPECT_EQ(GetString(object, "i", "no"), "no");
  EXPECT_EQ(GetInt(object, "i"), 3);
  EXPECT_EQ(GetInt(object, "s", -1), -1);
  EXPECT_EQ(GetInt(object, "d", -1), -1);
  EXPECT_EQ(GetInt(object, "u", -1), -1);
  EXPECT_EQ(GetDouble(object, "d"), 2.5);
  EXPECT_EQ(GetDouble(object, "i"), 3.0);
  EXPECT_EQ(GetDouble(object, "none", 9), 9);
  EXPECT_TRUE(GetBool(object, "b"));
  EXPECT_TRUE(GetBool(object, "s", true));
  EXPECT_NE(GetObject(object, "o"), nullptr);
  EXPECT_EQ(GetObject(object, "a"), nullptr);
  EXPECT_NE(GetArray(object, "a"), nullptr);
  EXPECT_EQ(GetArray(object, "none"), nullptr);
}

TEST(JsonTest, AnyBytesSurviveAsJsonText) {
  EXPECT_EQ(EncodeBytes("plain é"), "plain é");
  EXPECT_EQ(EncodeBytes("a\xff"),
            "a\xef\xbf\xbf"
            "ff");
  std::string mark = "\xef\xbf\xbf";
  EXPECT_EQ(EncodeBytes(mark), mark + "ef" + mark + "bf" + mark + "bf");
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (size_t n = random() % 30; n > 0; --n) {
      bytes += random() % 4 ? static_cast<char>(random()) : "\xef\xbf\xbf\xe2\x82"[random() % 5];
    }
    std::string text = EncodeBytes(bytes);
    ASSERT_TRUE(IsUtf8(text));
    ASSERT_EQ(DecodeBytes(text), bytes);
    auto through = Parse(Print(Value(text)));
    ASSERT_TRUE(through.ok());
    ASSERT_EQ(DecodeBytes(through->get_string()), bytes);
  }
  EXPECT_EQ(DecodeBytes(mark + "zz" + mark), mark + "zz" + mark);
}

TEST(JsonTest, TextThatSteersATerminal) {
  const std::string text = "\033[2J\x7f\xc2\x9b\u202e\u200b\U000e0041 naïve 日本";
  const std::string printed = Print(Value(text));
  EXPECT_EQ(printed, "\"\\u001b[2J\\u007f\\u009b\\u202e\\u200b\\udb40\\udc41 naïve 日本\"");
  auto again = Parse(printed);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(std::string_view(again->get_string()), text);
  // Also behind eight plain bytes, and alone.
  EXPECT_EQ(Print(Value("12345678\x7f")), "\"12345678\\u007f\"");
}

TEST(JsonTest, FewBytesDoNotBecomeManyValues) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "{},";
  text += "{}]";
  EXPECT_TRUE(ParseLimited(text, 64, 1002).ok());
  EXPECT_EQ(CountValues(*ParseLimited(text, 64, 1002)), 1002u);
  const auto refused = ParseLimited(text, 64, 1001);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("more values than are read"), std::string::npos);
  EXPECT_FALSE(Parse("[" + std::string(2 * kMaxValues, '\t') + "0]" + "x").ok());
}

TEST(JsonTest, WhatATextTakesWhereItIsShownIsNotUnderestimated) {
  EXPECT_EQ(ShownBytes("outputs/model \xc3\xbc"), 16u) << "what does not grow counts as it is";
  for (const char* unit :
       {"'", "\"", "\\", "\x1b", "\x7f", "\n", "\xff", "\xc2\x9b", "\xe2\x80\xae",
        "\xf3\xa0\x81\x81", "\xef\xbf\xbf", "\xe2\x80", "x", "\xc3\xbc"}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += unit;
    const size_t most = ShownBytes(text) + 2;  // 2: the quotes around it
    EXPECT_LE(ForTerminal(text).size(), most) << text.substr(0, 8);
    EXPECT_LE(Print(Value(EncodeBytes(text))).size(), most) << text.substr(0, 8);
    EXPECT_LE(Print(Value(EncodeBytes(ShellQuote(text)))).size(), most + 2) << text.substr(0, 8);
  }
}

TEST(JsonTest, TheMemoryOfAValueGrowsWithAllThatIsBelowIt) {
  Object object{{"name", std::string(1000, 'x')}, {"list", Array{1, 2, Array{3}}}};
  const uint64_t one = MemoryOf(object);
  EXPECT_GT(one, 1000u);
  EXPECT_LT(one, 2000u);
  EXPECT_GT(MemoryOf(Array{object, object, object}), 3 * one);
}

}  // namespace
}  // namespace tenon::json
