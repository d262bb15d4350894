// SPDX-License-Identifier: Apache-2.0
#include "environment/python.h"

#include <gtest/gtest.h>

namespace tenon::environment {
namespace {

bool Matches(const std::string& constraint, const std::string& version) {
  auto parsed = PythonConstraint::Parse(constraint);
  EXPECT_TRUE(parsed.ok()) << constraint;
  return parsed.ok() && parsed->Matches(*ParsePythonVersion(version));
}

TEST(PythonConstraintTest, CondasAndPipsWordsMeanWhatTheyMeanThere) {
  struct Case {
    const char* constraint;
    const char* yes;
    const char* no;
  };
  const Case cases[] = {
      {"=3.6", "3.6.15", "3.7.0"},         {"=3.5.2", "3.5.2", "3.5.3"},
      {"==3.6.3", "3.6.3", "3.6.15"},      {"==3.6", "3.6.15", "3.7.1"},
      {">=3.8,<3.12", "3.11.7", "3.12.0"}, {">=3.8,<3.12", "3.8.0", "3.7.16"},
      {"3.7|3.9", "3.9.18", "3.8.18"},     {"~=3.8", "3.13.0", "3.7.0"},
      {"~=3.8.2", "3.8.18", "3.9.0"},      {"!=3.9.*", "3.8.1", "3.9.4"},
      {"=3.6.3=0", "3.6.3", "3.6.4"},      {"3.6.*", "3.6.1", "3.16.1"},
      {"<=3.8", "3.8.0", "3.8.1"},         {">3.8", "3.8.1", "3.8.0"},
      {" = 3.1 ", "3.1.9", "3.11.0"},      {"<4", "3.13.0", "4.0.0"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(Matches(c.constraint, c.yes)) << c.constraint << " " << c.yes;
    EXPECT_FALSE(Matches(c.constraint, c.no)) << c.constraint << " " << c.no;
  }
  for (const char* any : {"", "*", "=*"}) EXPECT_TRUE(Matches(any, "2.7.18")) << any;
}

TEST(PythonConstraintTest, NonsenseIsAnErrorNotAnyPython) {
  for (const char* text : {"=three", "=>=3", "latest", "~=3", "==", "=3.x"}) {
    EXPECT_FALSE(PythonConstraint::Parse(text).ok()) << text;
  }
}

TEST(PythonConstraintTest, UvIsAskedInPep440) {
  auto pep = [](const char* text) { return PythonConstraint::Parse(text)->AsPep440(); };
  EXPECT_EQ(pep("=3.11"), "==3.11.*");
  EXPECT_EQ(pep("=3.5.2"), "==3.5.2");
  EXPECT_EQ(pep(">=3.8, <3.12"), ">=3.8,<3.12");
  EXPECT_EQ(pep("~=3.8"), ">=3.8,==3.*");
  EXPECT_EQ(pep(""), "");
  EXPECT_EQ(pep("3.7|3.8"), std::nullopt);
}

TEST(ChoosePythonTest, TheNewestThatMatchesAndTheFirstWhereNothingIsAsked) {
  std::vector<Interpreter> all = {{"/usr/bin/python2", "2.7.18"},
                                  {"/usr/bin/python3", "3.11.2"},
                                  {"/opt/python3.12", "3.12.1"},
                                  {"/opt/python3.9", "3.9.18"},
                                  {"/opt/again", "3.9.18"}};
  auto choose = [&](const char* text) {
    const Interpreter* found = ChoosePython(all, *PythonConstraint::Parse(text));
    return found ? found->path : "none";
  };
  EXPECT_EQ(choose(""), "/usr/bin/python3");
  EXPECT_EQ(choose(">=3.8"), "/opt/python3.12");
  EXPECT_EQ(choose("<3.11"), "/opt/python3.9");
  EXPECT_EQ(choose("=3.5.2"), "none");
  EXPECT_EQ(choose("=2.7"), "none") << "no tool makes an environment from it";
}

TEST(PythonVersionTest, LettersAtTheEndAreDroppedAndNonsenseIsNoVersion) {
  EXPECT_EQ(ParsePythonVersion("3.13.0rc1"), (PythonVersion{3, 13, 0}));
  EXPECT_EQ(ParsePythonVersion("3.11"), (PythonVersion{3, 11, 0}));
  for (const char* text : {"", "three", "3.", ".3", "-1", "3.-1"}) {
    EXPECT_EQ(ParsePythonVersion(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tenon::environment
