// SPDX-License-Identifier: Apache-2.0
// Asks the person at the terminal. Questions go to /dev/tty, so standard input and output stay free
// for data.
#ifndef TENON_CLI_PRINT_ASK_H_
#define TENON_CLI_PRINT_ASK_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace tenon::cli {

// Whether somebody can be asked: standard input or error is a terminal, and /dev/tty opens.
bool HasTerminal();

// Asks for a line. `hidden`: the typed text is not shown. nullopt: there is no terminal, or nothing
// was entered (Ctrl-D). An interrupt ends the program after restoring the terminal.
std::optional<std::string> AskLine(const std::string& question, bool hidden);

// Asks yes or no. Any answer but "y" or "yes" is no, and so is a missing terminal.
bool AskYesOnTerminal(const std::string& question);

// Asks a question of the ssh program. The answer is hidden, except for a yes-or-no question.
std::optional<std::string> AskForSsh(const std::string& prompt);

// Reads a secret from standard input: the first line, or everything if there is no line end.
// `option` is named in errors. kInvalid: nothing was read, or it is too long.
Result<std::string> ReadSecretFromInput(const std::string& option);

// Overwrites secrets in this program's arguments, so that `ps` no longer shows them. Returns
// whether there were any.
bool HideSecretArguments(int argc, char** argv);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_ASK_H_
