// SPDX-License-Identifier: Apache-2.0
// Makes the manual pages from the table of commands.
#ifndef TENON_CLI_PARSE_MAN_PAGE_H_
#define TENON_CLI_PARSE_MAN_PAGE_H_

#include <string>
#include <vector>

#include "cli/command.h"

namespace tenon::cli {

struct CommandNode;

struct ManPage {
  std::string file;  // "tenon-submit.1"
  std::string text;
};

// tenon.1 first, then a page for each command under its usual name.
std::vector<ManPage> MakeManPages(const CommandNode& root, const std::vector<Command>& commands);

// Escapes every character that roff would interpret.
std::string ManText(std::string_view text);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_MAN_PAGE_H_
