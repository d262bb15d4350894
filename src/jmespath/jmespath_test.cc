// SPDX-License-Identifier: Apache-2.0
#include "jmespath/jmespath.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/source_tree.h"

namespace tenon::jmespath {
namespace {

Result<json::Value> Ask(std::string_view query, std::string_view document,
                        const Limits& limits = {}) {
  TENON_TRY(const Expression expression, Parse(query));
  TENON_TRY(const json::Value value, json::Parse(document));
  return Search(expression, value, limits);
}

std::string Answer(std::string_view query, std::string_view document) {
  const auto answer = Ask(query, document);
  return answer.ok() ? json::Print(*answer) : answer.error().message;
}

// Numbers by value, objects in any order; everything else exactly.
bool Same(const json::Value& a, const json::Value& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                      b.get_array().end(), Same);
  }
  if (!a.is_object()) return a == b;
  if (a.get_object().size() != b.get_object().size()) return false;
  for (const auto& member : a.get_object()) {
    const json::Value* other = b.get_object().if_contains(member.key());
    if (!other || !Same(member.value(), *other)) return false;
  }
  return true;
}

// The answers to some cases depend on the order of an object's members, which JSON does not have.
bool SameInSomeOrder(const json::Value& a, const json::Value& b) {
  if (Same(a, b)) return true;
  return a.is_array() && b.is_array() &&
         std::is_permutation(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                             b.get_array().end(), Same);
}

class OfficialCases : public ::testing::TestWithParam<std::string> {};

TEST_P(OfficialCases, AnswerDiffers) {
  const auto text = ReadFile(SourcePath("tests/data/jmespath/" + GetParam()));
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto groups = json::Parse(*text, 256);
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  size_t cases = 0;
  for (const json::Value& group : groups->get_array()) {
    const json::Value& given = group.get_object().at("given");
    for (const json::Value& one : group.get_object().at("cases").get_array()) {
      const json::Object& entry = one.get_object();
      const std::string query = json::GetString(entry, "expression");
      SCOPED_TRACE(query);
      ++cases;
      const auto expression = Parse(query);
      const auto answer = expression.ok() ? Search(*expression, given) : expression.error();
      if (const std::string error = json::GetString(entry, "error"); !error.empty()) {
        ASSERT_FALSE(answer.ok()) << json::Print(*answer);
        EXPECT_TRUE(answer.error().message.starts_with(error + ": ")) << answer.error().message;
        EXPECT_TRUE(answer.error().message.ends_with("^")) << answer.error().message;
        EXPECT_EQ(answer.error().kind, ErrorKind::kInvalid);
        continue;
      }
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      if (const json::Value* result = entry.if_contains("result")) {
        EXPECT_TRUE(SameInSomeOrder(*answer, *result)) << json::Print(*answer) << "\ninstead of\n"
                                                       << json::Print(*result);
      } else {
        EXPECT_TRUE(entry.contains("bench")) << "a case that asks for nothing";
      }
    }
  }
  EXPECT_GE(cases, 3u);
}

INSTANTIATE_TEST_SUITE_P(
    Files, OfficialCases,
    ::testing::Values("basic.json", "benchmarks.json", "boolean.json", "current.json",
                      "escape.json", "filters.json", "functions.json", "identifiers.json",
                      "indices.json", "literal.json", "multiselect.json", "pipe.json", "slice.json",
                      "syntax.json", "unicode.json", "wildcard.json"),
    [](const auto& test) { return test.param.substr(0, test.param.find('.')); });

TEST(OfficialCasesTest, FileIsLeftOut) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data/jmespath"))) {
    files += entry.path().extension() == ".json";
  }
  EXPECT_EQ(files, 16u);
}

TEST(ParseTest, CaretPointsElsewhere) {
  EXPECT_EQ(Answer("foo..bar", "{}"),
            "syntax: a name, *, [ or { should follow the dot\n  foo..bar\n      ^");
  EXPECT_EQ(Answer("a = b", "{}"), "syntax: equality is written ==\n  a = b\n    ^");
  EXPECT_EQ(Answer("größe", "{}"), "syntax: this character means nothing here\n  größe\n    ^");
  EXPECT_EQ(
      Answer("abs('x')", "{}"),
      "invalid-type: abs() takes a number here, not a value of type string\n  abs('x')\n      ^");
  EXPECT_EQ(
      Answer("foo[", "{}"),
      "syntax: a number, a slice or * should follow this [, but the query ends\n  foo[\n      ^");
  const std::string far = Answer(std::string(100, 'a') + " = b" + std::string(100, 'c'), "{}");
  EXPECT_NE(far.find("…aaa"), std::string::npos) << far;
  EXPECT_EQ(far.substr(far.rfind('\n')), "\n  " + std::string(49, ' ') + "^") << far;
}

TEST(ParseTest, TypingErrorGetsNoHelp) {
  const auto wrong = Parse("maxby(@, &a)");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().hint, "did you mean max_by()?");
}

TEST(ParseTest, OldLiteralIsRefused) {
  EXPECT_EQ(Answer("[?status==`Completed`].run_id", R"([{"status":"Completed","run_id":"a"}])"),
            R"(["a"])");
  EXPECT_EQ(Answer("`not \"json`", "{}").substr(0, 7), "syntax:");
  EXPECT_EQ(Answer("`01`", "{}").substr(0, 7), "syntax:");
  EXPECT_EQ(Answer("``", "{}").substr(0, 7), "syntax:");
}

TEST(ParseTest, NestingOverrunsTheStack) {
  for (const char* piece :
       {"(", "!", "[", "{a:", "a.", "a|", "[0]", "[]", "[*].", "*.", "a||", "abs("}) {
    std::string query;
    while (query.size() < 60'000) query += piece;
    const auto parsed = Parse(query + "a");
    ASSERT_FALSE(parsed.ok()) << piece;
    EXPECT_EQ(parsed.error().message.substr(0, 8), "too-much") << parsed.error().message;
  }
  const auto large = Parse(std::string(100'000, 'a'));
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().message.substr(0, 8), "too-much");
}

TEST(SearchTest, AnswerGrowsWithoutLimit) {
  std::string query = "@";
  for (int i = 0; i < 60; ++i) query += "|[@,@]";
  const auto answer = Ask(query, "[1]", {.steps = 1'000'000, .values = 1'000'000});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message.substr(0, 8), "too-much");
}

TEST(SearchTest, AnswerIsNestedWithoutLimit) {
  std::string inner = "@";
  for (int i = 0; i < 100; ++i) inner = "[" + inner + "]";
  std::string query = "@";
  for (int i = 0; i < 10; ++i) query += "|" + inner;
  const auto answer = Ask(query, "1");
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("nested too deeply"), std::string::npos);
}

TEST(SearchTest, StepsWithoutLimit) {
  std::string list = "[0";
  for (int i = 0; i < 2000; ++i) list += ",0";
  const auto answer = Ask("map(&length(`" + list + "]`[?@==`0`]), @)", list + "]",
                          {.steps = 100'000, .values = 100'000'000});
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("too many steps"), std::string::npos);
}

TEST(SearchTest, WholeNumberBecomesAFraction) {
  EXPECT_EQ(Answer("sum(@)", "[1,2,3]"), "6");
  EXPECT_EQ(Answer("sum(@)", "[1,2.5]"), "3.5");
  EXPECT_EQ(Answer("sum(@)", "[9223372036854775807,1]"), "9.223372036854776e+18");
  EXPECT_EQ(Answer("abs(@)", "-7"), "7");
  EXPECT_EQ(Answer("abs(@)", "-9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(Answer("ceil(@)", "1.2"), "2");
  EXPECT_EQ(Answer("floor(@)", "1e300"), "1e+300");
  EXPECT_EQ(Answer("to_number('12')", "{}"), "12");
  EXPECT_EQ(Answer("to_number('12x')", "{}"), "null");
  EXPECT_EQ(Answer("max(@)", "[1, 3, 2.5]"), "3");
  EXPECT_EQ(Answer("avg(@)", "[1, 2]"), "1.5");
}

TEST(SearchTest, LargeNumbersAreRounded) {
  EXPECT_EQ(Answer("[0] == [1]", "[9007199254740993, 9007199254740992.0]"), "false");
  EXPECT_EQ(Answer("[0] > [1]", "[9007199254740993, 9007199254740992.0]"), "true");
  EXPECT_EQ(Answer("[0] < [1]", "[-1, 18446744073709551615]"), "true");
  EXPECT_EQ(Answer("[0] > [1]", "[18446744073709551615, 1.8e19]"), "true");
  EXPECT_EQ(Answer("[0] == [1]", "[3, 3.0]"), "true");
  EXPECT_EQ(Answer("[0] < [1]", "[-3.5, -3]"), "true");
}

TEST(SearchTest, SliceRunsOverTheEnds) {
  EXPECT_EQ(Answer("[9223372036854775806:]", "[1,2]"), "[]");
  EXPECT_EQ(Answer("[::9223372036854775807]", "[1,2]"), "[1]");
  EXPECT_EQ(Answer("[::-9223372036854775807]", "[1,2]"), "[2]");
  EXPECT_EQ(Answer("[-9223372036854775807::-1]", "[1,2]"), "[]");
  EXPECT_EQ(Answer("[::-1]", "[]"), "[]");
  EXPECT_EQ(Answer("[-9223372036854775807]", "[1,2]"), "null");
}

TEST(SearchTest, TextIsCutInsideACharacter) {
  EXPECT_EQ(Answer("reverse(@)", "\"aß𝄞\""), "\"𝄞ßa\"");
  EXPECT_EQ(Answer("length(@)", "\"aß𝄞\""), "3");
}

TEST(SearchTest, EqualKeysChangeTheirOrder) {
  EXPECT_EQ(
      Answer("sort_by(@, &k)[].n", R"([{"k":2,"n":1},{"k":1,"n":2},{"k":2,"n":3},{"k":1,"n":4}])"),
      "[2,4,1,3]");
  EXPECT_EQ(Answer("max_by(@, &k).n", R"([{"k":2,"n":1},{"k":2,"n":3}])"), "1");
}

TEST(SearchTest, DocumentedHistoryQueriesFail) {
  const char* runs = R"([
    {"run_id":"a","status":"Completed","Accuracy":0.9,"duration":"0:00:05.1"},
    {"run_id":"b","status":"Failed","duration":"0:00:01.0"},
    {"run_id":"c","status":"Completed","Accuracy":0.98,"duration":"0:00:04.9"}])";
  EXPECT_EQ(Answer("[?status=='Completed'].run_id", runs), R"(["a","c"])");
  EXPECT_EQ(Answer("@[?Accuracy != null] | max_by(@, &Accuracy).Accuracy", runs), "0.98");
  EXPECT_EQ(Answer("@[?Accuracy >= sum(`[1, -0.03]`)] | sort_by(@, &duration) | [].run_id", runs),
            R"(["c"])");
}

}  // namespace
}  // namespace tenon::jmespath
