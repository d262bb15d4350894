// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/command_line.h"

#include <algorithm>

#include "base/text.h"
#include "cli/parse/parser.h"
#include "cli/print/print.h"
#include "version.h"

namespace tenon::cli {
namespace {

constexpr const char* kAbout =
    "Runs a Python project on a machine with a GPU, and keeps a record of every run.";
constexpr const char* kAboutAz =
    "The commands of Azure ML Workbench that run scripts and look at their history, by Tenon.";

// An example under the other program name: with its own words, or with the Workbench's words for
// the same command. "" if the example uses none of the command's names.
std::string ExampleFor(Program program, const Command& command, const std::string& example,
                       const std::vector<std::string>& words) {
  if (program == Program::kTenon) return example;
  for (const auto& said : command.words) {
    const std::string beginning = "tenon " + Join(said, " ");
    if (example != beginning && !example.starts_with(beginning + " ")) continue;
    const auto& other = IsWorkbenchGroup(said.front()) ? said : words;
    return "az ml " + Join(other, " ") + example.substr(beginning.size());
  }
  return "";
}

std::string HelpFooter(Program program, const Command& command,
                       const std::vector<std::string>& words) {
  std::string examples, others;
  for (const std::string& example : command.examples) {
    const std::string shown = ExampleFor(program, command, example, words);
    if (!shown.empty()) examples += "  " + shown + "\n";
  }
  for (const auto& other : command.words) {
    if (other == words || (program == Program::kAz && !IsWorkbenchGroup(other.front()))) continue;
    others += (others.empty() ? "" : ", ") +
              std::string(program == Program::kAz ? "az ml " : "tenon ") + Join(other, " ");
  }
  if (!examples.empty()) examples = "Examples:\n" + examples;
  return examples + (others.empty() ? "" : "Also: " + others + "\n");
}

// Adds a command to the tree, one node per word. A group may be a command too (`runs`). If the
// first word is not `said`, adds only a node for the first word.
void AddCommand(CommandNode& root, Program program, const Command& command, const std::string* said,
                Session& session) {
  for (const auto& words : command.words) {
    if (program == Program::kAz && !IsWorkbenchGroup(words.front())) continue;
    const bool meant = !said || words.front() == *said;
    CommandNode* node = &root;
    for (const std::string& word : words) {
      CommandNode* next = node->Find(word);
      if (!next) {
        const auto group = GroupSummaries().find(word);
        next = &node->Add(word, group == GroupSummaries().end() ? "" : group->second);
      }
      node = next;
      if (!meant) break;
    }
    if (!meant && words.size() > 1) continue;
    node->description =
        command.summary + "." + (command.description.empty() ? "" : "\n\n" + command.description);
    if (!meant) continue;
    node->footer = HelpFooter(program, command, words);
    AddGlobalOptions(node->options, &session.globals);
    node->action = command.declare(node->options, words);
    node->starts_script = command.starts_script;
  }
}

std::vector<std::string> NamesBelow(const CommandNode& node) {
  std::vector<std::string> names;
  for (const auto& child : node.children) names.push_back(child->name);
  return names;
}

// The words that lead to a node, without the program.
std::vector<std::string> WordsTo(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode* at = &node; at->parent; at = at->parent) {
    words.insert(words.begin(), at->name);
  }
  return words;
}

Error UsageError(const Parsed& parsed) {
  const CommandNode& node = *parsed.command;
  const std::string& said = node.options.command();
  Error error = Invalid(OneLine(parsed.problem));
  if (parsed.unknown) {
    const std::string& word = *parsed.unknown;
    const bool is_option = word.starts_with("-");
    const std::vector<std::string> candidates =
        is_option ? node.options.LongNames() : NamesBelow(node);
    if (is_option || candidates.empty()) {
      error.message = said + " does not take " + OneLine(word);
    } else {
      error.message = "there is no command `" + said + " " + OneLine(word) + "`";
    }
    if (auto near = DidYouMean(word, candidates)) {
      error.hint = "did you mean `" + (is_option ? *near : said + " " + *near) + "`?";
    }
  }
  if (error.hint.empty()) error.hint = "`" + said + " --help` shows how it is used";
  return error;
}

// The parser knows only short options of one letter. The Workbench had one of two letters, -ap.
std::vector<std::string> WithLongNames(std::vector<std::string> words) {
  if (words.size() < 2 || words[0] != "history" || words[1] != "promote") return words;
  std::replace(words.begin(), words.end(), std::string("-ap"), std::string("--artifact-path"));
  return words;
}

}  // namespace

const std::vector<std::string>& WorkbenchGroups() {
  static const std::vector<std::string> groups = {
      "asset",   "computecontext", "computetarget",    "execute",          "experiment",
      "history", "project",        "runconfiguration", "runconfigurations"};
  return groups;
}

bool IsWorkbenchGroup(std::string_view word) {
  const auto& groups = WorkbenchGroups();
  return std::find(groups.begin(), groups.end(), word) != groups.end();
}

int UnknownOption(const OptionTable& table, const std::string& word) {
  Error error = Invalid(std::string(table.name()) + " does not take " + OneLine(word));
  const auto near = DidYouMean(word, table.LongNames());
  error.hint = near ? "did you mean " + *near + "?"
                    : "options come before the script; `" + table.command() + " --help` lists them";
  PrintError(error);
  return 2;
}

CommandLine::CommandLine(Session& session, Program program, const std::vector<std::string>* words)
    : root_(program == Program::kAz ? "az ml" : "tenon",
            program == Program::kAz ? kAboutAz : kAbout) {
  if (program == Program::kAz) {
    root_.footer =
        "`az ml GROUP COMMAND --help` shows options and examples of each. Groups that "
        "are not here, and everything but `ml`, go to the next az on the PATH.";
  } else {
    root_.footer = "`tenon COMMAND --help` shows options and examples of each.";
    root_.options.Add("--version", Option::Asks::kVersion,
                      "Display program version information and exit");
  }
  static const std::string nothing;
  const std::string* said = !words ? nullptr : words->empty() ? &nothing : &words->front();
  for (const Command& command : AllCommands()) {
    AddCommand(root_, program, command, said, session);
  }
}

Line CommandLine::Parse(const std::vector<std::string>& typed) {
  Line line;
  const std::vector<std::string> words = WithLongNames(typed);
  const Parsed parsed = ParseWords(root_, words);
  const CommandNode& node = *parsed.command;
  switch (parsed.kind) {
    case Parsed::Kind::kVersion:
      line.kind = Line::Kind::kPrint;
      line.text = "tenon " TENON_VERSION "\n";
      return line;
    case Parsed::Kind::kHelp:
      line.kind = Line::Kind::kPrint;
      line.text = HelpText(node);
      break;
    case Parsed::Kind::kWrong:
      line.kind = Line::Kind::kUsage;
      line.error = UsageError(parsed);
      break;
    case Parsed::Kind::kUnderstood:
      line.action = node.action;
      line.starts_script = node.starts_script;
      if (!line.action) {
        line.kind = words.empty() ? Line::Kind::kPrint : Line::Kind::kWhich;
        line.text = HelpText(node);
      }
      break;
  }
  line.words = WordsTo(node);
  return line;
}

}  // namespace tenon::cli
