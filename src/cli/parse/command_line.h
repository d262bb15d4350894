// SPDX-License-Identifier: Apache-2.0
// Parses the words of a command line. Prints nothing and carries out nothing.
#ifndef TENON_CLI_PARSE_COMMAND_LINE_H_
#define TENON_CLI_PARSE_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/parse/command_tree.h"
#include "cli/session.h"

namespace tenon::cli {

// The name the program is called by. `az ml` knows only the Workbench's words.
enum class Program { kTenon, kAz };

// The groups of `az ml` that Tenon has commands for: experiment, history, …
const std::vector<std::string>& WorkbenchGroups();
bool IsWorkbenchGroup(std::string_view word);

// The meaning of a command line.
struct Line {
  enum class Kind {
    kAct,    // call `action`
    kPrint,  // print `text`: --help, --version
    kUsage,  // the words are wrong; `error` says how
    kWhich,  // a group without a command: print `text`, its help, and exit as for an error
  };
  Kind kind = Kind::kAct;
  std::vector<std::string> words;  // of the command, as far as they were understood
  std::string text;
  Error error;
  Action action;  // may be called as long as the CommandLine lives
  bool starts_script = false;
};

class CommandLine {
 public:
  // Parsed options are written to session.globals. `words`: what Parse() will get. With it, only
  // the commands that `words` can mean get their options; the others get only a name and a summary.
  // This saves most of the time of a short call.
  CommandLine(Session& session, Program program, const std::vector<std::string>* words = nullptr);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Parses the words. Call it once per object.
  Line Parse(const std::vector<std::string>& words);
  const CommandNode& root() const { return root_; }

 private:
  CommandNode root_;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMMAND_LINE_H_
