// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/login_shell.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "run/verbs.h"
#include "runner/environment/tool_process.h"

extern char** environ;

namespace tenon::runner {
namespace {

constexpr int kLoginMs = 10'000;
constexpr int kSetupMs = 600'000;
constexpr size_t kMarkDigits = 24;
// The variable that holds our path for a shell, when the path has characters that shells read
// differently.
constexpr const char* kProgramVariable = "TENON_LOGIN_PROGRAM";
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr int kCannotStart = 126;

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '.' || c == '_' || c == '-' || c == '+';
  });
}

// "exec PROGRAM environment MARK", written so that every shell reads it alike.
std::string ExecEnvironment(const std::string& mark) {
  const std::string program = OurProgram();
  const std::string word =
      IsPlain(program) ? program : "\"$" + std::string(kProgramVariable) + "\"";
  return "exec " + word + " " + run::kVerbEnvironment + " " + mark;
}

std::string LastWords(std::string_view text, size_t lines) {
  text = Trim(text);
  size_t begin = text.size();
  for (size_t i = 0; i < lines && begin != 0 && begin != std::string_view::npos; ++i) {
    begin = text.rfind('\n', begin - 1);
    if (begin == std::string_view::npos) return ForTerminal(text);
  }
  return ForTerminal(text.substr(std::min(begin + 1, text.size())));
}

bool IsShLike(const std::string& shell) {
  const std::string_view name = BaseName(shell);
  return name == "bash" || name == "zsh" || name == "ksh" || name == "mksh" || name == "dash" ||
         name == "ash" || name == "sh";
}

std::string SetupShell(const Environment& environment) {
  const std::string path = GetVariable(environment, "PATH", kDefaultPath);
  if (auto bash = FindProgram("bash", path + ":/bin:/usr/bin")) return *bash;
  std::string own = GetVariable(environment, "SHELL");
  if (IsShLike(own) && ::access(own.c_str(), X_OK) == 0) return own;
  return "/bin/sh";
}

// Before each line, sets tenon_line to its number, so that a shell that ends early can print it.
std::string SetupScript(const std::vector<std::string>& lines, const std::string& mark) {
  std::string script = "set -e\ntrap 'echo \"" + mark + ":$tenon_line:$?\" >&2' EXIT\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    script += "tenon_line=" + std::to_string(i) + "\n" + lines[i] + "\n";
  }
  return script + "trap - EXIT\nunset tenon_line\n" + ExecEnvironment(mark) +
         " >\"$TENON_SETUP_RESULT\"\n";
}

// Says which setup line failed and what it printed, without the line that our own trap printed.
Error SetupError(const std::vector<std::string>& lines, const ToolEnd& end,
                 const std::string& mark) {
  std::string words = end.tail;
  size_t line = lines.size();
  std::string how = end.How();
  if (const size_t at = words.find(mark + ":"); at != std::string::npos) {
    const std::vector<std::string> parts = Split(words.substr(at, words.find('\n', at) - at), ':');
    if (parts.size() == 3) {
      line = static_cast<size_t>(::strtoul(parts[1].c_str(), nullptr, 10));
      how = "exit code " + parts[2];
    }
    words.erase(at, words.find('\n', at) - at);
  }
  if (end.timed_out) how = "it did not end in ten minutes";
  const std::string what = line < lines.size() ? "`" + lines[line] + "`" : "the setup lines";
  const std::string said = LastWords(words, 5);
  return Invalid("setup of the target: " + what + " failed (" + how + ")" +
                 (said.empty() ? "" : ": " + said))
      .WithHint(
          "the lines under `setup:` in the target's .compute file are run by a login shell "
          "on the host, each only if the one before it worked");
}

}  // namespace

std::string OurProgram() { return ReadLink("/proc/self/exe").value_or("tenon-runner"); }

std::optional<Environment> FindPrintedEnvironment(std::string_view text, const std::string& mark) {
  const size_t begin = text.find(mark);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + mark.size());
  const size_t end = text.find(mark);
  if (end == std::string_view::npos) return std::nullopt;
  Environment variables;
  for (const std::string& entry : Split(text.substr(0, end), '\0')) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

Environment WithoutSession(Environment environment) {
  static constexpr std::string_view kNames[] = {"DISPLAY", "SHLVL", "_", "PWD", "OLDPWD", "TERM"};
  static constexpr std::string_view kBeginnings[] = {"SSH_", "XDG_SESSION_", "TENON_"};
  std::erase_if(environment, [](const auto& entry) {
    const std::string& name = entry.first;
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
           std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [&](std::string_view one) { return name.starts_with(one); });
  });
  return environment;
}

std::vector<std::string> LoginCommand(const std::string& shell, const std::string& text) {
  return {OurProgram(), run::kVerbLogin, shell, text};
}

int ExecLoginShell(const std::string& shell, const std::string& text) {
  ::setenv(kProgramVariable, OurProgram().c_str(), 1);
  const std::string name = "-" + std::string(BaseName(shell));
  const char* argv[] = {name.c_str(), "-c", text.c_str(), nullptr};
  ::execve(shell.c_str(), const_cast<char* const*>(argv), environ);
  (void)WriteAll(STDERR_FILENO, FromErrno("start " + shell, errno).message + "\n").ok();
  return kCannotStart;
}

LoginEnvironment ReadLoginEnvironment(const std::string& shell) {
  const std::string mark = RandomHex(kMarkDigits);
  LoginEnvironment login;
  auto ran = RunAndCapture(LoginCommand(shell, ExecEnvironment(mark)), "", "", kLoginMs);
  std::optional<Environment> found;
  if (ran.ok()) found = FindPrintedEnvironment(ran->out, mark);
  login.variables = WithoutSession(found ? std::move(*found) : CurrentEnvironment());
  if (found) return login;
  if (!ran.ok()) {
    login.problem = ran.error().message;
  } else if (ran->timed_out) {
    login.problem = "the login shell " + shell + " did not get ready in 10 s";
  } else {
    const std::string words = LastWords(ran->err.empty() ? ran->out : ran->err, 1);
    login.problem = "the login shell " + shell + " ended with exit code " +
                    std::to_string(ran->status.AsShell()) + (words.empty() ? "" : ": " + words);
  }
  return login;
}

Result<Environment> RunSetupLines(const std::vector<std::string>& lines,
                                  const Environment& environment, const std::string& folder,
                                  const std::vector<std::string>& masked,
                                  const std::atomic<bool>& stop) {
  const std::string mark = RandomHex(kMarkDigits);
  const std::string result = JoinPath(folder, "setup-environment");
  TENON_TRY_VOID(WriteFileAtomically(result, "", 0600, Durability::kProcess));
  ToolRun tool;
  tool.argv = LoginCommand(SetupShell(environment), SetupScript(lines, mark));
  tool.env = environment;
  tool.env["TENON_SETUP_RESULT"] = result;
  tool.cwd = GetVariable(environment, "HOME", "/");
  if (!IsDirectory(tool.cwd)) tool.cwd = "/";
  tool.masked = masked;
  tool.timeout_ms = kSetupMs;
  auto end = RunTool(tool, stop);
  auto text = ReadFile(result);
  (void)RemoveFile(result).ok();
  if (!end.ok()) return std::move(end).error().Wrap("running the setup lines of the target");
  const auto printed =
      text.ok() ? FindPrintedEnvironment(*text, mark) : std::optional<Environment>();
  if (!end->ok() || !printed) return SetupError(lines, *end, mark);
  return WithoutSession(*printed);
}

}  // namespace tenon::runner
