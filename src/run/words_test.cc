// SPDX-License-Identifier: Apache-2.0
// States, parameters, layout and verbs.
#include <gtest/gtest.h>

#include "run/layout.h"
#include "run/spec.h"
#include "run/state.h"
#include "run/verbs.h"

namespace tenon::run {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr State kAll[] = {State::kNotStarted, State::kQueued,          State::kStarting,
                          State::kPreparing,  State::kRunning,         State::kFinalizing,
                          State::kCompleted,  State::kCancelRequested, State::kFailed,
                          State::kCanceled,   State::kNotResponding};

TEST(State, NamesComeBack) {
  for (State state : kAll) EXPECT_EQ(StateFromName(StateName(state)), state);
  EXPECT_FALSE(StateFromName("running").has_value());
  EXPECT_FALSE(StateFromName("").has_value());
}

TEST(State, FurtherDoesNotDependOnTheOrder) {
  for (State a : kAll) {
    for (State b : kAll) {
      if (IsFinal(a) && IsFinal(b)) continue;
      EXPECT_EQ(Further(a, b), Further(b, a));
    }
  }
  EXPECT_EQ(Further(State::kCompleted, State::kCancelRequested), State::kCompleted);
}

TEST(Parameters, AllFormsOfFlags) {
  EXPECT_EQ(ParametersFromArguments({"data.csv", "--rate=0.1", "pos", "--layers", "64", "32",
                                     "--fast", "-n", "-5", "--", "--not", "this"}),
            (Pairs{{"rate", "0.1"}, {"layers", "64 32"}, {"fast", "true"}, {"n", "-5"}}));
}

TEST(Parameters, ARepeatedFlagKeepsTheLastValue) {
  EXPECT_EQ(ParametersFromArguments({"--a", "1", "--b", "--a=2"}),
            (Pairs{{"a", "2"}, {"b", "true"}}));
}

TEST(Parameters, OddWords) {
  EXPECT_EQ(ParametersFromArguments({}), Pairs{});
  EXPECT_EQ(ParametersFromArguments({"-", "--", "-x"}), Pairs{});
  EXPECT_EQ(ParametersFromArguments({"--f", "-"}), (Pairs{{"f", "-"}}));
  EXPECT_EQ(ParametersFromArguments({"--="}), Pairs{});
  EXPECT_EQ(ParametersFromArguments({"---"}), Pairs{});
  EXPECT_EQ(ParametersFromArguments({"--e="}), (Pairs{{"e", ""}}));
  EXPECT_EQ(ParametersFromArguments({"--q=a=b"}), (Pairs{{"q", "a=b"}}));
  EXPECT_EQ(ParametersFromArguments({"--lo", "-1e-3", "-.5", "--hi", "-1e999"}),
            (Pairs{{"lo", "-1e-3 -.5"}, {"hi", "-1e999"}}));
}

TEST(Layout, ARunIdCannotLeaveItsFolder) {
  for (const char* bad : {"", ".", "..", "a/b", "/"}) EXPECT_FALSE(IsValidRunId(bad)) << bad;
  EXPECT_FALSE(IsValidRunId(std::string_view("a\0b", 3)));
  EXPECT_FALSE(IsValidRunId(std::string(256, 'a')));
  EXPECT_TRUE(IsValidRunId(std::string(255, 'a')));
  EXPECT_TRUE(IsValidRunId("digits_1500000000000"));
}

TEST(Layout, AnyProjectNameGivesAUsableStem) {
  EXPECT_EQ(RunIdStem("digits"), "digits");
  EXPECT_EQ(RunIdStem("my project/2"), "my_project_2");
  EXPECT_EQ(RunIdStem("../x"), "_._x");
  EXPECT_EQ(RunIdStem("-rf"), "_rf");
  EXPECT_EQ(RunIdStem(""), "project");
  EXPECT_EQ(RunIdStem("\xc3\xbc"
                      "bung"),
            "\xc3\xbc"
            "bung");
  EXPECT_EQ(RunIdStem("a\xff"
                      "b\n"),
            "a_b_");
  std::string stem = RunIdStem(std::string(199, 'a') + "\xc3\xbc\xc3\xbc");
  EXPECT_EQ(stem, std::string(199, 'a'));
  for (const char* name : {"..", "/", "\xff\xfe", "a b"})
    EXPECT_TRUE(IsValidRunId(RunIdStem(name)));
}

TEST(Layout, PlacesBelowAHome) {
  Home home("/h");
  RunFolder folder(home, "r_1");
  EXPECT_EQ(folder.path(), "/h/runs/r_1");
  EXPECT_EQ(folder.host_segment(), "/h/runs/r_1/host.tj");
  EXPECT_EQ(folder.near_segment("c"), "/h/runs/r_1/near-c.tj");
  EXPECT_EQ(home.number_file("p"), "/h/numbers/p");
  EXPECT_EQ(home.stat_cache("p"), "/h/stat-cache/p");
}

TEST(Verbs, HelloIsFoundBehindWhatALoginShellPrints) {
  std::string output = "Welcome!\ntenon-runner is great\n" + HelloLine("0.1.0") + "{}\n";
  size_t after = 0;
  auto hello = ParseHello(output, &after);
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->protocol, kProtocol);
  EXPECT_EQ(hello->version, "0.1.0");
  EXPECT_EQ(output.substr(after), "{}\n");
}

TEST(Verbs, HalfAHelloIsNone) {
  for (const char* text : {"", "tenon-runner 1 0.1.0", "tenon-runner x 0.1\n", "tenon-runner 1\n",
                           "tenon-runner 0 0.1\n", " tenon-runner 1 0.1\n"}) {
    auto hello = ParseHello(text, nullptr);
    ASSERT_FALSE(hello.ok()) << text;
    EXPECT_EQ(hello.error().kind, ErrorKind::kUnavailable);
  }
}

TEST(Verbs, AMismatchSaysWhichSideIsOlder) {
  EXPECT_FALSE(ProtocolMismatch(1, 1, "0.1.0").has_value());
  auto newer = ProtocolMismatch(1, 2, "0.2.0");
  ASSERT_TRUE(newer);
  EXPECT_NE(newer->message.find("this side is the older"), std::string::npos);
  EXPECT_NE(newer->hint.find("0.2.0"), std::string::npos);
  auto older = ProtocolMismatch(2, 1, "0.1.0");
  ASSERT_TRUE(older);
  EXPECT_NE(older->message.find("the other side is the older"), std::string::npos);
}

}  // namespace
}  // namespace tenon::run
