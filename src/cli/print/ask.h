// SPDX-License-Identifier: Apache-2.0
// Questions to the person at the terminal. They go to /dev/tty, so standard input and output stay
// free for data.
#ifndef TENON_CLI_PRINT_ASK_H_
#define TENON_CLI_PRINT_ASK_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace tenon::cli {

// Somebody is there to ask: standard input or error is a terminal, and it can be opened.
bool HasTerminal();

// A line; with `hidden` it is not shown while it is typed. nullopt: no terminal, or nothing was
// entered (Ctrl-D). An interrupt ends the program with the terminal as it was.
std::optional<std::string> AskLine(const std::string& question, bool hidden);

// Yes or no; anything but yes is no.
bool AskYesOnTerminal(const std::string& question);

// What ssh wants to know: hidden, but for a yes-or-no question.
std::optional<std::string> AskForSsh(const std::string& prompt);

// A secret from standard input: everything up to the first line end, or to the end. kInvalid:
// nothing there, or too long.
Result<std::string> ReadSecretFromInput(const std::string& option);

// Overwrites the secrets among the words this program was started with, so that `ps` does not show
// them any longer. True when there was one.
bool HideSecretArguments(int argc, char** argv);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_ASK_H_
