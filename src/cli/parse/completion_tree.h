// SPDX-License-Identifier: Apache-2.0
// The commands as a shell's completion needs to know them, and the scripts made from that.
#ifndef TENON_CLI_PARSE_COMPLETION_TREE_H_
#define TENON_CLI_PARSE_COMPLETION_TREE_H_

#include <string>
#include <vector>

namespace tenon::cli {

struct CommandNode;

// What may stand in a place.
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
  bool rest_is_the_scripts = false;  // after the first positional nothing is ours
};

// All nodes, the root first, each before those below it.
std::vector<CompletionNode> ReadCompletionTree(const CommandNode& root);

// Scripts that complete `tenon`. Ids of runs, targets and run configurations are asked of the
// program itself when they are needed: `tenon completion --offer KIND` prints one a line.
std::string BashCompletion(const std::vector<CompletionNode>& nodes);
std::string ZshCompletion(const std::vector<CompletionNode>& nodes);
std::string FishCompletion(const std::vector<CompletionNode>& nodes);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMPLETION_TREE_H_
