// SPDX-License-Identifier: Apache-2.0
// The environment a user has after logging in: PATH, modules, conda. Found out by starting the
// user's shell as a login starts it and having it start us.
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

// Path of this very program.
std::string OurProgram();

struct LoginEnvironment {
  Environment variables;  // without those of one session alone
  std::string problem;    // in words; "" = none. Then `variables` are our own
};
// Ten seconds at the most.
LoginEnvironment ReadLoginEnvironment(const std::string& shell);

// The variables in what `tenon-runner environment MARK` printed, wherever in the text it stands.
// nullopt: it is not there, or not whole.
std::optional<Environment> FindPrintedEnvironment(std::string_view text, const std::string& mark);

// Without what belongs to one session: SSH_*, DISPLAY, XDG_SESSION_*, SHLVL, _, PWD, OLDPWD, TERM,
// TENON_*.
Environment WithoutSession(Environment environment);

// The command that runs `text` in a login shell: `tenon-runner login SHELL TEXT`, because only
// argv[0] tells every shell that it is one.
std::vector<std::string> LoginCommand(const std::string& shell, const std::string& text);
// The other end of it. Returns only on failure, with the exit code.
int ExecLoginShell(const std::string& shell, const std::string& text);

// The `setup:` lines of a target, one after the other in one login shell that begins with
// `environment`, and the environment they leave behind. A line that fails is kInvalid with its
// words. `stop` set: kUnavailable.
Result<Environment> RunSetupLines(const std::vector<std::string>& lines,
                                  const Environment& environment, const std::string& folder,
                                  const std::vector<std::string>& masked,
                                  const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_LOGIN_SHELL_H_
