// SPDX-License-Identifier: Apache-2.0
// Parses words into a command and option values, and makes the help text. Only parser.cc includes
// the library that does this, CLI11: its header is so large that it took a third of the build when
// every command included it.
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
    kHelp,     // the help of `command` was asked for
    kVersion,  // the program's version was asked for
    kWrong,    // `problem` says what is wrong
  };
  Kind kind = Kind::kUnderstood;
  CommandNode* command = nullptr;  // the innermost command that was understood; at least the root
  std::string problem;
  std::optional<std::string> unknown;  // kWrong because of this word
};

// Parses the words. Sets the targets, given() and rest() of the options they name. With kWrong some
// targets may have been set. Call it once per tree: options that a line does not name keep their
// values.
Parsed ParseWords(CommandNode& root, const std::vector<std::string>& words);

// What --help prints for this node.
std::string HelpText(const CommandNode& node);
// The usage line of the help, without "Usage: " and the line end.
std::string UsageLine(const CommandNode& node);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_PARSER_H_
