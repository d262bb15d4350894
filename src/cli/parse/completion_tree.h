// SPDX-License-Identifier: Apache-2.0
// The commands in the form that shell completion needs, and the scripts made from it.
#ifndef TENON_CLI_PARSE_COMPLETION_TREE_H_
#define TENON_CLI_PARSE_COMPLETION_TREE_H_

#include <string>
#include <vector>

namespace tenon::cli {

struct CommandNode;

// The kind of value that an option or argument takes.
struct CompletionValue {
  enum class Kind {
    kAnything,
    kRun,
    kTarget,
    kConfiguration,  // a run configuration
    kScript,         // a Python file
    kFile,
    kFolder,
    kWords
  };
  Kind kind = Kind::kAnything;
  std::vector<std::string> words;  // kWords only
};

struct CompletionOption {
  std::vector<std::string> names;  // with their dashes
  std::string description;
  bool takes_value = false;
  CompletionValue value;
};

struct CompletionNode {
  std::string path;  // "" the program itself, "/history", "/history/list"
  std::string summary;
  std::vector<std::string> commands;  // names of the nodes below
  std::vector<CompletionOption> options;
  std::vector<CompletionValue> positionals;  // in order; the last one may repeat
  bool repeats = false;
  bool rest_is_the_scripts = false;  // all words after the first positional belong to the script
};

// All nodes, root first, parents before children.
std::vector<CompletionNode> ReadCompletionTree(const CommandNode& root);

// Shell scripts that complete `tenon`. They ask the program for the ids of runs, targets and run
// configurations when needed: `tenon completion --offer KIND` prints one per line.
std::string BashCompletion(const std::vector<CompletionNode>& nodes);
std::string ZshCompletion(const std::vector<CompletionNode>& nodes);
std::string FishCompletion(const std::vector<CompletionNode>& nodes);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMPLETION_TREE_H_
