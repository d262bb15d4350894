// SPDX-License-Identifier: Apache-2.0
// From words to what they mean. Nothing is printed and nothing is done here.
#ifndef TENON_CLI_PARSE_COMMAND_LINE_H_
#define TENON_CLI_PARSE_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/parse/command_tree.h"
#include "cli/session.h"

namespace tenon::cli {

// Under which name we are called. As `az ml` only the Workbench's words are known.
enum class Program { kTenon, kAz };

// Groups of `az ml` that have commands here: experiment, history, …
const std::vector<std::string>& WorkbenchGroups();
bool IsWorkbenchGroup(std::string_view word);

// What a line of words means.
struct Line {
  enum class Kind {
    kAct,    // `action` does it
    kPrint,  // `text` is the answer: --help, --version
    kUsage,  // `error` says what is wrong with the words
    kWhich,  // a group without a command: `text` is its help, and the exit code that of an error
  };
  Kind kind = Kind::kAct;
  std::vector<std::string> words;  // of the command that was meant, as far as understood
  std::string text;
  Error error;
  Action action;  // may be called while the CommandLine lives
  bool starts_script = false;
};

class CommandLine {
 public:
  // Options land in session.globals. With `words`, which Parse will get, only the commands they can
  // mean get their options, which is most of the time a short call takes; the others have their
  // name and summary only.
  CommandLine(Session& session, Program program, const std::vector<std::string>* words = nullptr);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Once per object.
  Line Parse(const std::vector<std::string>& words);
  const CommandNode& root() const { return root_; }

 private:
  CommandNode root_;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_COMMAND_LINE_H_
