// SPDX-License-Identifier: Apache-2.0
#include "cli/program/az.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/parse/command_line.h"
#include "cli/parse/not_here.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "run/env_vars.h"

namespace tenon::cli {
namespace {

constexpr int kMaxDepth = 8;

constexpr std::string_view kAbout =
    "This az is tenon's. It knows what Azure ML Workbench knew of running scripts:\n"
    "  az ml --help\n"
    "Everything else goes to the next az on the PATH";

bool IsHelp(const std::string& word) { return word == "-h" || word == "--help" || word == "help"; }

// Replaces this process by the other az with the same words. If there is none, prints that.
int PassOn(const Session& session, const std::vector<std::string>& words) {
  const auto other = FindOtherAz(session.environment);
  const std::string said = words.empty() ? "az" : "az " + OneLine(words.front());
  if (!other) {
    if (words.empty() || IsHelp(words.front())) {
      PrintOut(std::string(kAbout) + "; there is none.\n");
      FlushOut();
      return 0;
    }
    const bool ml = words.front() == "ml" && words.size() > 1;
    const auto near = ml ? DidYouMean(words[1], WorkbenchGroups()) : std::nullopt;
    PrintError(NotFound("`" + said + (ml ? " " + OneLine(words[1]) : "") +
                        "` is no part of Tenon, and there is no other program az on the PATH to "
                        "pass it on to")
                   .WithHint(near ? "did you mean `az ml " + *near + "`?"
                                  : "`az ml --help` lists what is here"));
    return 3;
  }
  const int depth = std::atoi(GetVariable(session.environment, run::env::kAzDepth).c_str());
  if (depth >= kMaxDepth) {
    PrintError(Unavailable("`" + said + "` has been passed on " + std::to_string(depth) +
                           " times; " + OneLine(*other) + " seems to call us again")
                   .WithHint("take one of the two off the PATH"));
    return 4;
  }
  ::setenv(run::env::kAzDepth, std::to_string(depth + 1).c_str(), 1);
  std::vector<char*> argv = {const_cast<char*>(other->c_str())};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  ::execv(other->c_str(), argv.data());
  PrintError(FromErrno("starting " + *other, errno));
  return 4;
}

// Commands that print text by default, as the Workbench did. All others print JSON unless -o says
// otherwise.
bool PrintsTexts(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"experiment", "submit"} ||
         words == std::vector<std::string>{"experiment", "status"} ||
         words == std::vector<std::string>{"execute", "start"};
}

Result<int> Explain(Session&) {
  PrintOut(std::string(kAbout) + ".\n");
  return 0;
}

}  // namespace

bool IsOurAz(const std::string& path) {
  struct stat file, self;
  if (::stat(path.c_str(), &file) != 0) return false;
  if (::stat("/proc/self/exe", &self) == 0 && file.st_dev == self.st_dev &&
      file.st_ino == self.st_ino) {
    return true;
  }
  auto fd = OpenFile(path, O_RDONLY);
  if (!fd.ok()) return false;
  char head[512];
  const auto size = ReadAt(fd->get(), head, 0);
  return size.ok() && std::string_view(head, *size).find(kAzMark) != std::string_view::npos;
}

std::optional<std::string> FindOtherAz(const Environment& environment) {
  for (const std::string& folder : Split(GetVariable(environment, "PATH"), ':')) {
    auto found = FindProgram("az", folder.empty() ? "." : folder);
    if (found && !IsOurAz(*found)) return found;
  }
  return std::nullopt;
}

std::string AzScript(const std::string& tenon) {
  return "#!/bin/sh\n"
         "# Written by `tenon install-az`. `az ml` as Azure ML Workbench had it is tenon's;\n"
         "# everything else goes to the next az on the PATH.\n"
         "tenon=" +
         ShellQuote(tenon) +
         "\n"
         "[ -x \"$tenon\" ] || tenon=$(command -v tenon) || {\n"
         "  echo \"error: the program that this az starts is no longer there, and no tenon is on "
         "the PATH\" >&2\n"
         "  echo \"hint: put tenon on the PATH, or run \\`tenon install-az\\` again, or delete "
         "$0\" >&2\n"
         "  exit 127\n"
         "}\n"
         "exec \"$tenon\" az \"$@\"\n";
}

int AzMain(const std::vector<std::string>& words, engine::OtherMachines* others) {
  Session session(others);
  if (words.empty() || words.front() != "ml") return PassOn(session, words);
  const std::vector<std::string> inner(words.begin() + 1, words.end());
  if (const auto absent = FindNotHere(inner, Program::kAz)) return PrintNotHere(*absent, inner);
  if (!inner.empty() && !inner.front().starts_with("-") && !IsWorkbenchGroup(inner.front())) {
    return PassOn(session, words);
  }
  CommandLine command_line(session, Program::kAz, &inner);
  Line line = command_line.Parse(inner);
  if (session.globals.output.empty() && !session.globals.json && !PrintsTexts(line.words)) {
    session.globals.output = "json";
  }
  return RunLine(session, line);
}

Command AzCommand() {
  return {{{"az"}},
          "Do what the program `az` does that `tenon install-az` writes",
          "`az ml` with the words of Azure ML Workbench prints JSON, as it did; everything else is "
          "passed on to the next az on the PATH.",
          {"tenon az ml history list", "tenon az ml experiment submit -c local train.py"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            table.Usage("tenon az ml GROUP COMMAND [OPTIONS]");
            table.RestIsTheScripts();
            return Explain;
          }};
}

}  // namespace tenon::cli
