// SPDX-License-Identifier: Apache-2.0
// From words to a command of the tree and values for its options, and the help that goes with it.
// The library that does it, CLI11, is known to parser.cc alone: its header is so large that it used
// to cost a third of the build when every command included it.
#ifndef TENON_CLI_PARSE_PARSER_H_
#define TENON_CLI_PARSE_PARSER_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/parse/command_tree.h"

namespace tenon::cli {

struct Parsed {
  enum class Kind {
    kUnderstood,
    kHelp,     // somebody asks for the help of `command`
    kVersion,  // somebody asks for the version of the program
    kWrong,    // `problem` says what is wrong
  };
  Kind kind = Kind::kUnderstood;
  CommandNode* command = nullptr;  // the innermost that was understood, at least the root
  std::string problem;
  std::optional<std::string> unknown;  // kWrong because of this word, which nothing takes
};

// Writes what the words say into the targets, given() and rest() of the options they name. With
// kWrong, some targets may have been written. One line per tree: what a line does not name stays.
Parsed ParseWords(CommandNode& root, const std::vector<std::string>& words);

// What --help prints for this node.
std::string HelpText(const CommandNode& node);
// The line "Usage: …" of that, without the word and the line's end.
std::string UsageLine(const CommandNode& node);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_PARSER_H_
