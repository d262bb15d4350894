// SPDX-License-Identifier: Apache-2.0
// The commands as a tree with one node per word: the program, its groups and their commands.
#ifndef TENON_CLI_PARSE_COMMAND_TREE_H_
#define TENON_CLI_PARSE_COMMAND_TREE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/parse/options.h"

namespace tenon::cli {

// A node with an action is a command, one with children is a group; `runs` is both. Nodes keep
// their address while the root lives. Every node has -h and --help.
struct CommandNode {
  // Makes the root, which stands for the program.
  CommandNode(std::string program, std::string about);
  CommandNode(const CommandNode&) = delete;
  CommandNode& operator=(const CommandNode&) = delete;

  // Adds a node below this one and returns it. It starts with this node's footer. This node must
  // not have a child called `word`.
  CommandNode& Add(const std::string& word, std::string about);
  // The child with this name; nullptr if there is none.
  CommandNode* Find(std::string_view word) const;

  std::string name;  // the program: "tenon" or "az ml"; all other nodes: one word
  std::string description;
  std::string footer;
  OptionTable options;
  Action action;               // may be called while the root lives; empty for a pure group
  bool starts_script = false;  // see Command
  const CommandNode* parent = nullptr;
  std::vector<std::unique_ptr<CommandNode>> children;  // in the order they were added

 private:
  CommandNode(std::string word, std::string about, const CommandNode& above);
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMMAND_TREE_H_
