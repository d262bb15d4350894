// SPDX-License-Identifier: Apache-2.0
// Finds out which environment a user has after logging in: PATH, modules, conda. Starts the user's
// shell as a login starts it, and has the shell start this program.
#ifndef TENON_RUNNER_VERBS_LOGIN_SHELL_H_
#define TENON_RUNNER_VERBS_LOGIN_SHELL_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace tenon::runner {

// The path of the running program.
std::string OurProgram();

struct LoginEnvironment {
  Environment variables;  // as WithoutSession() leaves them
  std::string problem;    // in words, and `variables` are our own; "" = none
};
// Takes ten seconds at most. Never fails: `problem` says what went wrong.
LoginEnvironment ReadLoginEnvironment(const std::string& shell);

// Finds the output of `tenon-runner environment MARK` anywhere in `text` and returns its variables.
// nullopt: the output is missing or incomplete.
std::optional<Environment> FindPrintedEnvironment(std::string_view text, const std::string& mark);

// Removes what belongs to one session: SSH_*, DISPLAY, XDG_SESSION_*, SHLVL, _, PWD, OLDPWD, TERM,
// TENON_*.
Environment WithoutSession(Environment environment);

// The command that runs `text` in a login shell: `tenon-runner login SHELL TEXT`. It goes through
// this program because only a `-` in argv[0] tells every shell that it is a login shell.
std::vector<std::string> LoginCommand(const std::string& shell, const std::string& text);
// Carries out that command: becomes the shell. Returns only on failure, with the exit code.
int ExecLoginShell(const std::string& shell, const std::string& text);

// Runs the `setup:` lines of a target, one after the other in one login shell that begins with
// `environment`, and returns the environment they leave behind. kInvalid when a line fails, with
// what it printed. kUnavailable when `stop` is set. `folder` is for a temporary file; `masked` are
// values to mask in the error.
Result<Environment> RunSetupLines(const std::vector<std::string>& lines,
                                  const Environment& environment, const std::string& folder,
                                  const std::vector<std::string>& masked,
                                  const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_LOGIN_SHELL_H_
