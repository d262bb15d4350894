// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/options.h"

#include <gtest/gtest.h>

#include "cli/parse/command_tree.h"

namespace tenon::cli {
namespace {

class OptionTableTest : public ::testing::Test {
 protected:
  OptionTable table_{"tenon history list"};
  std::string text_;
  std::vector<std::string> texts_;
  bool flag_ = false;
  int number_ = 0;
};

TEST_F(OptionTableTest, NamesAreMixedUp) {
  const Option& option = table_.Add("NAME,-n,--name,--called", &text_, "The name");
  EXPECT_EQ(option.argument(), "NAME");
  EXPECT_EQ(option.short_names(), std::vector<std::string>{"n"});
  EXPECT_EQ(option.long_names(), (std::vector<std::string>{"name", "called"}));
  EXPECT_TRUE(option.is_option());
  EXPECT_TRUE(option.is_argument());
  EXPECT_FALSE(table_.Flag("-y", &flag_, "").is_argument());
  EXPECT_EQ(table_.LongNames(), (std::vector<std::string>{"--name", "--called"}));
  EXPECT_EQ(table_.name(), "list");
}

TEST_F(OptionTableTest, FlagTakesAValue) {
  EXPECT_FALSE(table_.Flag("-y,--yes", &flag_, "").takes_value());
  EXPECT_FALSE(table_.Add("--help", Option::Asks::kHelp, "").takes_value());
  EXPECT_EQ(table_.Add("-n", &number_, "").type(), "INT");
  EXPECT_EQ(table_.Add("-t", &text_, "").type(), "TEXT");
  EXPECT_EQ(table_.Add("-u", &text_, "").Type("NAME").type(), "NAME");
  EXPECT_TRUE(table_.Add("RUN", &texts_, "").takes_many());
}

TEST_F(OptionTableTest, OptionMovesWhenOthersAreAdded) {
  const Option& first = table_.Flag("--first", &flag_, "one");
  for (int i = 0; i < 1000; ++i) table_.Flag("--f" + std::to_string(i), &flag_, "");
  EXPECT_EQ(&first, &table_.options().front());
  EXPECT_EQ(first.help(), "one");
}

using OptionTableDeathTest = OptionTableTest;

TEST_F(OptionTableDeathTest, OptionIsDeclaredTwice) {
  table_.Add("NAME,-n,--name", &text_, "");
  EXPECT_DEATH(table_.Add("-n,--number", &number_, ""), "HaveOneInCommon");
  EXPECT_DEATH(table_.Flag("--name", &flag_, ""), "HaveOneInCommon");
  EXPECT_DEATH(table_.Add("NAME", &text_, ""), "HaveOneInCommon");
}

TEST_F(OptionTableDeathTest, DeclarationMakesNoSense) {
  EXPECT_DEATH(table_.Add("-ab", &text_, ""), "options.cc");
  EXPECT_DEATH(table_.Flag("FLAG", &flag_, ""), "options.cc");
  EXPECT_DEATH(table_.Add("A,B", &text_, ""), "options.cc");
  EXPECT_DEATH(table_.Flag("-y", &flag_, "").Type("NAME"), "options.cc");
  EXPECT_DEATH(table_.Add("-z", &text_, "").OneEach(), "options.cc");
  EXPECT_DEATH(table_.Usage("history list"), "options.cc");
}

TEST(CommandNodeDeathTest, WordStandsTwiceInTheTree) {
  CommandNode root("tenon", "about");
  root.Add("runs", "");
  EXPECT_DEATH(root.Add("runs", ""), "Find");
}

TEST(CommandNodeTest, WordIsNotFoundOrHasAnotherPlace) {
  CommandNode root("tenon", "about");
  root.footer = "see also";
  CommandNode& history = root.Add("history", "Before");
  CommandNode& list = history.Add("list", "All");
  EXPECT_EQ(root.Find("history"), &history);
  EXPECT_EQ(root.Find("list"), nullptr);
  EXPECT_EQ(history.Find("list"), &list);
  EXPECT_EQ(list.parent, &history);
  EXPECT_EQ(list.footer, "see also");
  EXPECT_EQ(list.options.command(), "tenon history list");
  EXPECT_EQ(list.options.options().front().names(), "-h,--help");
}

}  // namespace
}  // namespace tenon::cli
