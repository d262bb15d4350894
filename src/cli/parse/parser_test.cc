// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/parser.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tenon::cli {
namespace {

using Kind = Parsed::Kind;

// A program with one command of each kind.
class ParserTest : public ::testing::Test {
 protected:
  ParserTest()
      : root_("tenon", "About it."), list_(root_.Add("history", "Before").Add("list", "All")) {
    root_.footer = "The end.";
    root_.options.Add("--version", Option::Asks::kVersion, "Which one");
    OptionTable& list = list_.options;
    list.Add("RUN", &run_, "Which run");
    output_ = &list.Add("-o,--output", &format_, "How").OneOf({"json", "tsv"}).Type("FORMAT");
    list.Add("--port", &port_, "Which port").Between(1, 65535).Type("PORT");
    list.Add("-n,--limit", &limit_, "How many");
    list.Add("--since", &since_, "In seconds");
    list.Add("--tag", &tags_, "With this tag").OneEach();
    list.Add("--template", &template_, "Like that").ValueMayBeMissing();
    list.Add("--Address", &address_, "Where").AnyCase();
    Option& csv = list.Flag("--csv", &csv_, "As CSV");
    list.Flag("--chart", &chart_, "As a chart").Excludes(csv).Global();
    CommandNode& submit = root_.Add("submit", "Run a script.\n\nAnd more.");
    submit.options.Flag("-q,--quiet", &quiet_, "Less");
    submit.options.RestIsTheScripts();
    submit.options.Usage("tenon submit [OPTIONS] SCRIPT [ARGUMENTS...]");
    CommandNode& remove = root_.Add("remove", "Take away");
    remove.options.Add("NAME,-n,--name", &name_, "What").Required();
    remove.options.Add("MORE", &more_, "What else");
  }

  Parsed Parse(const std::string& line) {
    return ParseWords(root_, line.empty() ? std::vector<std::string>() : Split(line, ' '));
  }
  const OptionTable& Submit() { return root_.Find("submit")->options; }

  CommandNode root_;
  CommandNode& list_;
  const Option* output_ = nullptr;
  std::string run_ = "last", format_ = "table", template_ = "none", address_, name_;
  std::vector<std::string> tags_, more_;
  int port_ = 22;
  size_t limit_ = 10;
  int64_t since_ = -1;
  bool csv_ = false, chart_ = false, quiet_ = false;
};

TEST_F(ParserTest, DefaultsAreLost) {
  const Parsed parsed = Parse("history list");
  EXPECT_EQ(parsed.kind, Kind::kUnderstood) << parsed.problem;
  EXPECT_EQ(parsed.command, &list_);
  EXPECT_EQ(run_, "last");
  EXPECT_EQ(format_, "table");
  EXPECT_EQ(port_, 22);
  EXPECT_EQ(limit_, 10u);
  EXPECT_EQ(since_, -1);
  EXPECT_EQ(template_, "none");
  EXPECT_FALSE(csv_);
  for (const Option& option : list_.options.options()) EXPECT_FALSE(option.given());
}

TEST_F(ParserTest, ValueLandsInTheWrongPlace) {
  const Parsed parsed = Parse(
      "history list 12 -o tsv --port 2222 --limit 3 --since -60 --tag a --tag b --csv "
      "--ADDRESS here");
  EXPECT_EQ(parsed.kind, Kind::kUnderstood) << parsed.problem;
  EXPECT_EQ(run_, "12");
  EXPECT_EQ(format_, "tsv");
  EXPECT_EQ(port_, 2222);
  EXPECT_EQ(limit_, 3u);
  EXPECT_EQ(since_, -60);
  EXPECT_EQ(tags_, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(csv_);
  EXPECT_FALSE(chart_);
  EXPECT_EQ(address_, "here");
  EXPECT_TRUE(output_->given());
}

TEST_F(ParserTest, ValueIsMissing) {
  for (const char* line : {"history list -o", "history list --port", "history list --tag"}) {
    EXPECT_EQ(Parse(line).kind, Kind::kWrong) << line;
  }
  EXPECT_EQ(Parse("history list --output").problem,
            "--output: 1 required FORMAT:{json,tsv} missing");
}

TEST_F(ParserTest, OptionWithoutItsValueIsNotGiven) {
  EXPECT_EQ(Parse("history list --template").kind, Kind::kUnderstood);
  EXPECT_EQ(template_, "");
  for (const Option& option : list_.options.options()) {
    EXPECT_EQ(option.given(), option.names() == "--template") << option.names();
  }
}

TEST_F(ParserTest, NumberIsNoneOrOutOfRange) {
  for (const char* port : {"0", "65536", "-1", "x", "22x", "99999999999"}) {
    const Parsed parsed = Parse(std::string("history list --port ") + port);
    EXPECT_EQ(parsed.kind, Kind::kWrong) << port;
    EXPECT_EQ(parsed.problem, "--port: Value " + std::string(port) + " not in range 1 to 65535");
    EXPECT_FALSE(parsed.unknown) << port;
  }
  for (const char* limit : {"x", "1.5", "3x"}) {
    EXPECT_EQ(Parse(std::string("history list --limit ") + limit).kind, Kind::kWrong) << limit;
  }
  EXPECT_EQ(port_, 22);
}

TEST_F(ParserTest, WordIsNotAmongTheChoices) {
  const Parsed parsed = Parse("history list -o xml");
  EXPECT_EQ(parsed.kind, Kind::kWrong);
  EXPECT_EQ(parsed.problem, "--output: xml not in {json,tsv}");
  EXPECT_EQ(format_, "table");
}

TEST_F(ParserTest, ExcludedOptionsComeTogether) {
  for (const char* line : {"history list --csv --chart", "history list --chart --csv"}) {
    const Parsed parsed = Parse(line);
    EXPECT_EQ(parsed.kind, Kind::kWrong) << line;
    EXPECT_NE(parsed.problem.find("excludes"), std::string::npos) << parsed.problem;
  }
}

TEST_F(ParserTest, RequiredOneIsMissing) {
  EXPECT_EQ(Parse("remove").problem, "--name is required");
  EXPECT_EQ(Parse("remove -n x").kind, Kind::kUnderstood);
  EXPECT_EQ(name_, "x");
  EXPECT_EQ(Parse("remove y z z").kind, Kind::kUnderstood);
  EXPECT_EQ(name_, "y");
  EXPECT_EQ(more_, (std::vector<std::string>{"z", "z"}));
}

TEST_F(ParserTest, OneEachTakesTheNextWordToo) {
  EXPECT_EQ(Parse("history list --tag a 12").kind, Kind::kUnderstood);
  EXPECT_EQ(tags_, std::vector<std::string>{"a"});
  EXPECT_EQ(run_, "12");
}

TEST_F(ParserTest, WordsOfTheScriptAreTakenForOurs) {
  EXPECT_EQ(Parse("submit -q train.py -q --help history --version x").kind, Kind::kUnderstood);
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(Submit().rest(),
            (std::vector<std::string>{"train.py", "-q", "--help", "history", "--version", "x"}));
}

TEST_F(ParserTest, UnknownWordIsNotNamed) {
  Parsed parsed = Parse("history list --nope 1");
  EXPECT_EQ(parsed.kind, Kind::kWrong);
  EXPECT_EQ(parsed.unknown, "--nope");
  EXPECT_EQ(parsed.command, &list_);
  parsed = Parse("hisstory list");
  EXPECT_EQ(parsed.unknown, "hisstory");
  EXPECT_EQ(parsed.command, &root_);
  parsed = Parse("history list 12 13");
  EXPECT_EQ(parsed.unknown, "13");
}

TEST_F(ParserTest, CommandsNameIsNoArgument) {
  EXPECT_EQ(Parse("history list submit").command, &list_);
  EXPECT_EQ(run_, "submit");
}

TEST_F(ParserTest, HelpIsThatOfAnotherCommand) {
  const Parsed parsed = Parse("history list -h");
  EXPECT_EQ(parsed.kind, Kind::kHelp);
  EXPECT_EQ(parsed.command, &list_);
  EXPECT_EQ(Parse("history --help").command, root_.Find("history"));
  EXPECT_EQ(Parse("--help").command, &root_);
  EXPECT_EQ(Parse("--version").kind, Kind::kVersion);
  EXPECT_EQ(Parse("history --version").kind, Kind::kWrong);
  EXPECT_EQ(Parse("").kind, Kind::kUnderstood);
}

TEST_F(ParserTest, HelpLeavesSomethingOut) {
  const std::string help = HelpText(list_);
  for (const char* part :
       {"All\nUsage: tenon history list [OPTIONS] [RUN]\n", "Positionals:\n  RUN TEXT",
        "-o,--output FORMAT:{json,tsv}", "--port PORT:INT in [1 - 65535]", "--tag TEXT ...",
        "Options:\n  -h,--help", "Global options:\n  --chart", "Excludes: --csv"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
  const std::string root = HelpText(root_);
  EXPECT_NE(root.find("Run a script.\n  remove"), std::string::npos) << root;
  EXPECT_EQ(root.find("And more"), std::string::npos) << root;
  EXPECT_NE(root.find("The end."), std::string::npos) << root;
}

TEST_F(ParserTest, UsageNamesTheOtherProgram) {
  EXPECT_EQ(UsageLine(*root_.Find("submit")), "tenon submit [OPTIONS] SCRIPT [ARGUMENTS...]");
  EXPECT_EQ(UsageLine(*root_.Find("remove")), "tenon remove [OPTIONS] NAME [MORE...]");
  CommandNode az("az ml", "about");
  CommandNode& submit = az.Add("experiment", "").Add("submit", "");
  submit.options.Usage("tenon experiment submit [OPTIONS] SCRIPT");
  EXPECT_EQ(UsageLine(submit), "az ml experiment submit [OPTIONS] SCRIPT");
  EXPECT_EQ(UsageLine(az), "az ml [OPTIONS] [SUBCOMMAND]");
}

}  // namespace
}  // namespace tenon::cli
