// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/process.h"
#include "base/temp_folder.h"
#include "cli/parse/command_tree.h"
#include "cli/parse/completion_tree.h"

namespace tenon::cli {
namespace {

// A small program with everything that the scripts must handle.
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() : root_("tenon", "about") {
    root_.options.Add("--version", Option::Asks::kVersion, "Which one");
    OptionTable& submit = root_.Add("submit", "Run it's script.\n\nMore.").options;
    submit.RestIsTheScripts();
    submit.Flag("-q,--quiet", &quiet_, "Less");
    submit.Add("-c", &name_, "Which").Type("NAME");
    CommandNode& history = root_.Add("history", "Before");
    OptionTable& list = history.Add("list", "All of them").options;
    list.Add("-o,--output", &name_, "How").OneOf({"json", "table", "tsv"}).Type("FORMAT");
    OptionTable& restore = root_.Add("restore", "Back").options;
    restore.Add("RUN", &name_, "Which");
    restore.Add("DIR", &folder_, "Where");
    OptionTable& remove = root_.Add("remove", "Away").options;
    remove.Add("RUN", &names_, "Which");
    nodes_ = ReadCompletionTree(root_);
  }

  const CompletionNode& Node(const std::string& path) const {
    for (const CompletionNode& node : nodes_) {
      if (node.path == path) return node;
    }
    ADD_FAILURE() << "no node " << path;
    return nodes_.front();
  }

  // What bash offers to complete the last of the words, in bash's order.
  std::string Complete(const std::vector<std::string>& words) {
    std::string script = BashCompletion(nodes_) + "\nCOMP_WORDS=(";
    for (const std::string& word : words) script += " '" + word + "'";
    script += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) + "\ncd " +
              folder_for_files_.path() + "\n_tenon\nprintf '%s ' \"${COMPREPLY[@]}\"\n";
    return Bash(script);
  }

  static std::string Bash(const std::string& script) {
    TempFolder folder;
    const std::string path = folder / "script";
    EXPECT_TRUE(WriteFileAtomically(path, script, 0600, Durability::kProcess).ok());
    const std::string out = folder / "out";
    const int code =
        std::system(("bash --noprofile --norc '" + path + "' > '" + out + "' 2>&1").c_str());
    EXPECT_EQ(code, 0);
    return *ReadFile(out);
  }

  CommandNode root_;
  bool quiet_ = false;
  std::string name_, folder_;
  std::vector<std::string> names_;
  std::vector<CompletionNode> nodes_;
  TempFolder folder_for_files_;
};

TEST_F(CompletionTest, NodeIsMissing) {
  std::vector<std::string> paths;
  for (const auto& node : nodes_) paths.push_back(node.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"", "/submit", "/history", "/history/list", "/restore",
                                             "/remove"}));
  EXPECT_EQ(Node("/submit").summary, "Run it's script");
  EXPECT_TRUE(Node("/submit").rest_is_the_scripts);
}

TEST_F(CompletionTest, FlagTakesTheNextWord) {
  for (const auto& option : Node("/submit").options) {
    EXPECT_EQ(option.takes_value, option.names.front() == "-c") << option.names.front();
  }
}

TEST_F(CompletionTest, ChoicesAreLost) {
  const auto& options = Node("/history/list").options;
  const auto found = std::find_if(options.begin(), options.end(), [](const auto& option) {
    return option.names == std::vector<std::string>{"-o", "--output"};
  });
  ASSERT_NE(found, options.end());
  EXPECT_EQ(found->value.kind, CompletionValue::Kind::kWords);
  EXPECT_EQ(found->value.words, (std::vector<std::string>{"json", "table", "tsv"}));
}

TEST_F(CompletionTest, PositionalsAreMixedUp) {
  const auto& restore = Node("/restore").positionals;
  ASSERT_EQ(restore.size(), 2u);
  EXPECT_EQ(restore[0].kind, CompletionValue::Kind::kRun);
  EXPECT_EQ(restore[1].kind, CompletionValue::Kind::kFolder);
  EXPECT_FALSE(Node("/restore").repeats);
  EXPECT_TRUE(Node("/remove").repeats);
}

TEST_F(CompletionTest, BashOffersTheWrongThing) {
  ASSERT_TRUE(
      WriteFileAtomically(folder_for_files_ / "train.py", "", 0600, Durability::kProcess).ok());
  ASSERT_TRUE(MakeDirs(folder_for_files_ / "trained").ok());
  EXPECT_EQ(Complete({"tenon", "hist"}), "history ");
  EXPECT_EQ(Complete({"tenon", "history", ""}), "list ");
  EXPECT_EQ(Complete({"tenon", "history", "list", "--out"}), "--output ");
  EXPECT_EQ(Complete({"tenon", "history", "list", "-o", ""}), "json table tsv ");
  EXPECT_EQ(Complete({"tenon", "history", "list", "--output", "t"}), "table tsv ");
  EXPECT_EQ(Complete({"tenon", "submit", "-c", "x", "train.p"}), "train.py ");
  EXPECT_EQ(Complete({"tenon", "submit", "train.py", "-"}), " ") << "the script's own options";
  EXPECT_EQ(Complete({"tenon", "restore", "last", "tr"}), "trained ");
  EXPECT_EQ(Complete({"false", "restore", "la"}), "last ");
  EXPECT_EQ(Complete({"false", "remove", "one", "la"}), "last ");
  EXPECT_EQ(Complete({"tenon", "nothing", "x"}), " ");
}

TEST_F(CompletionTest, ApostropheBreaksAScript) {
  EXPECT_EQ(Bash(BashCompletion(nodes_)), "");
  EXPECT_NE(ZshCompletion(nodes_).find("'submit:Run it'\\''s script'"), std::string::npos);
  EXPECT_NE(FishCompletion(nodes_).find("'Run it\\'s script'"), std::string::npos);
}

}  // namespace
}  // namespace tenon::cli
