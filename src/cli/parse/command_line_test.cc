// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/command_line.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "base/text.h"
#include "cli/parse/not_here.h"

namespace tenon::cli {
namespace {

Line Understand(const std::string& text, Program program = Program::kTenon,
                Session* session = nullptr) {
  Session own;
  static std::unique_ptr<CommandLine> line;  // static, because actions must not outlive it
  line = std::make_unique<CommandLine>(session ? *session : own, program);
  return line->Parse(text.empty() ? std::vector<std::string>() : Split(text, ' '));
}

TEST(CommandLineTest, WorkbenchWordsAreNotKnownUnderAz) {
  for (const char* said :
       {"experiment submit -c local train.py --wait", "execute start -t local train.py",
        "experiment cancel -r 1 -t local", "experiment status --run 1 --target local",
        "history list -o table", "history last", "history info -r 1 --artifact driver_log",
        "history compare 1 2", "history download --overwrite -r 1 -d d"}) {
    EXPECT_EQ(Understand(said, Program::kAz).kind, Line::Kind::kAct) << said;
    EXPECT_EQ(Understand(said).kind, Line::Kind::kAct) << said;
  }
}

TEST(CommandLineTest, OurOwnWordsAreTakenForWorkbenchs) {
  for (const char* said : {"submit train.py", "runs", "show", "gc", "completion bash"}) {
    EXPECT_EQ(Understand(said, Program::kAz).kind, Line::Kind::kUsage) << said;
  }
}

TEST(CommandLineTest, HelpNamesTheOtherProgram) {
  const Line az = Understand("experiment submit --help", Program::kAz);
  EXPECT_EQ(az.kind, Line::Kind::kPrint);
  EXPECT_NE(az.text.find("Usage: az ml experiment submit"), std::string::npos) << az.text;
  EXPECT_NE(az.text.find("  az ml experiment submit train.py"), std::string::npos) << az.text;
  EXPECT_EQ(az.text.find("tenon"), std::string::npos) << az.text;
  const Line ours = Understand("submit -h");
  EXPECT_NE(ours.text.find("Usage: tenon submit"), std::string::npos) << ours.text;
}

TEST(CommandLineTest, CommandWithoutHelpOrExamples) {
  for (const Command& command : AllCommands()) {
    const std::string said = Join(command.words[0], " ");
    EXPECT_FALSE(command.summary.empty()) << said;
    EXPECT_FALSE(command.summary.ends_with('.')) << said;
    EXPECT_FALSE(command.examples.empty()) << said;
    for (const auto& words : command.words) {
      const Line line = Understand(Join(words, " ") + " -h");
      EXPECT_EQ(line.kind, Line::Kind::kPrint) << said;
      EXPECT_NE(line.text.find("--query"), std::string::npos) << said;
      EXPECT_NE(line.text.find("--debug"), std::string::npos) << said;
      EXPECT_NE(line.text.find("Examples:"), std::string::npos) << said;
    }
  }
}

TEST(CommandLineTest, CommandsThatAreNotMeantGetLost) {
  for (const std::string said :
       {"", "-h", "runs", "runs delete 1", "history -h", "history list -o tsv", "hisstory",
        "history lst", "submit -c x a.py", "runs --stauts x", "gc x", "experiment submit -h",
        "history"}) {
    for (const Program program : {Program::kTenon, Program::kAz}) {
      const std::vector<std::string> words =
          said.empty() ? std::vector<std::string>() : Split(said, ' ');
      Session session;
      CommandLine all(session, program), some(session, program, &words);
      const Line expected = all.Parse(words), got = some.Parse(words);
      EXPECT_EQ(got.kind, expected.kind) << said;
      EXPECT_EQ(got.text, expected.text) << said;
      EXPECT_EQ(got.error.message, expected.error.message) << said;
      EXPECT_EQ(got.error.hint, expected.error.hint) << said;
      EXPECT_EQ(got.words, expected.words) << said;
    }
  }
}

TEST(CommandLineTest, TypingErrorIsLeftAlone) {
  EXPECT_EQ(Understand("hisstory").error.hint, "did you mean `tenon history`?");
  EXPECT_EQ(Understand("history lst", Program::kAz).error.hint,
            "did you mean `az ml history list`?");
  EXPECT_EQ(Understand("runs --stauts x").error.hint, "did you mean `--status`?");
}

TEST(CommandLineTest, QueryIsCutAtItsBrackets) {
  Session session;
  EXPECT_EQ(Understand("runs --query [?status=='Completed'].{a:run_id,b:[x,y]}", Program::kTenon,
                       &session)
                .kind,
            Line::Kind::kAct);
  EXPECT_EQ(session.globals.query, "[?status=='Completed'].{a:run_id,b:[x,y]}");
}

TEST(NotHereTest, SentenceHidesACommandOfOurs) {
  for (const Command& command : AllCommands()) {
    for (const auto& words : command.words) {
      EXPECT_FALSE(FindNotHere(words, Program::kTenon)) << Join(words, " ");
      if (IsWorkbenchGroup(words.front())) {
        EXPECT_FALSE(FindNotHere(words, Program::kAz)) << Join(words, " ");
      }
    }
  }
}

TEST(NotHereTest, WordsOfWorkbenchGetNoSentence) {
  for (const char* said : {"service create realtime -n x", "notebook start", "account show",
                           "model list", "manifest create", "image create", "workspace create",
                           "datasource create", "project update --repo x", "project delete"}) {
    EXPECT_TRUE(FindNotHere(Split(said, ' '), Program::kTenon)) << said;
    EXPECT_TRUE(FindNotHere(Split(said, ' '), Program::kAz)) << said;
  }
  EXPECT_TRUE(FindNotHere({"env", "setup"}, Program::kAz));
  EXPECT_FALSE(FindNotHere({"env"}, Program::kTenon));
  EXPECT_FALSE(FindNotHere({"project"}, Program::kTenon));
  EXPECT_FALSE(FindNotHere({}, Program::kAz));
  EXPECT_TRUE(NotHereFile("data\\Clean.DPREP"));
  EXPECT_FALSE(NotHereFile("train.py"));
}

TEST(NotHereTest, SentenceIsNoSentence) {
  std::set<std::vector<std::string_view>> seen;
  for (const NotHere& row : AllNotHere()) {
    EXPECT_TRUE(seen.insert(row.words).second);
    EXPECT_GT(row.sentence.size(), 20u);
    EXPECT_GT(row.instead.size(), 20u);
  }
}

}  // namespace
}  // namespace tenon::cli
