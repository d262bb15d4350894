// SPDX-License-Identifier: Apache-2.0
// The commands as a tree, one node per word: the program, its groups, and the commands below them.
#ifndef TENON_CLI_PARSE_COMMAND_TREE_H_
#define TENON_CLI_PARSE_COMMAND_TREE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/parse/options.h"

namespace tenon::cli {

// A node with an action is a command; one with children is a group; `runs` is both. Nodes stay
// where they are as long as the root lives. Every node knows -h and --help.
struct CommandNode {
  // The program itself.
  CommandNode(std::string program, std::string about);
  CommandNode(const CommandNode&) = delete;
  CommandNode& operator=(const CommandNode&) = delete;

  // A new node below this one, which must not have one of that name. It begins with this one's
  // footer.
  CommandNode& Add(const std::string& word, std::string about);
  // The node below this one with that name; nullptr: none.
  CommandNode* Find(std::string_view word) const;

  std::string name;  // of the program "tenon" or "az ml", of every other node one word
  std::string description;
  std::string footer;
  OptionTable options;
  Action action;               // may be called while the root lives; empty: not a command
  bool starts_script = false;  // see Command
  const CommandNode* parent = nullptr;
  std::vector<std::unique_ptr<CommandNode>> children;  // in the order they were added

 private:
  CommandNode(std::string word, std::string about, const CommandNode& above);
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMMAND_TREE_H_
