// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "cli/print.h"
#include "version.h"

namespace tenon::cli {
namespace {

constexpr const char* kAbout =
    "Runs a Python project on a machine with a GPU, and keeps a record of every run.";
constexpr const char* kAboutAz =
    "The commands of Azure ML Workbench that run scripts and look at their history, by Tenon.";

const CLI::App* RootOf(const CLI::App* app) {
  while (app->get_parent()) app = app->get_parent();
  return app;
}

// Lists subcommands with the first line of their description only; a usage line may be given.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage = "") : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (usage_.empty()) return CLI::Formatter::make_usage(app, std::move(name));
    const size_t program = std::string_view("tenon").size();
    return "Usage: " + RootOf(app)->get_name() + usage_.substr(program) + "\n";
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string text = sub->get_description();
    std::stringstream out;
    CLI::detail::format_help(out, sub->get_display_name(), text.substr(0, text.find('\n')),
                             column_width_);
    return out.str();
  }

 private:
  std::string usage_;
};

// An example as it is typed under the other name: its words, or the Workbench's for the same.
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

CLI::App* FindSubcommand(CLI::App& app, const std::string& name) {
  for (CLI::App* sub :
       app.get_subcommands([&](const CLI::App* a) { return a->get_name() == name; }))
    return sub;
  return nullptr;
}

// The words that lead to a command, without its own: "tenon history".
std::string WordsBefore(const CLI::App* app) {
  std::string words;
  for (app = app->get_parent(); app; app = app->get_parent()) {
    if (!words.empty()) words.insert(0, " ");
    words.insert(0, app->get_name());
  }
  return words;
}

std::string Help(const CLI::App* app) { return app->help(WordsBefore(app)); }

// The parser's tree, one node per word. Groups that are commands themselves (`runs`) are both.
// Of those whose first word was not `said`, the first word only.
void AddCommand(CLI::App& root, Program program, const Command& command, const std::string* said,
                Session& session, Line* chosen) {
  for (const auto& words : command.words) {
    if (program == Program::kAz && !IsWorkbenchGroup(words.front())) continue;
    const bool meant = !said || words.front() == *said;
    CLI::App* app = &root;
    for (const std::string& word : words) {
      CLI::App* next = FindSubcommand(*app, word);
      if (!next) {
        const auto group = GroupSummaries().find(word);
        next = app->add_subcommand(word, group == GroupSummaries().end() ? "" : group->second);
        next->fallthrough(false);
      }
      app = next;
      if (!meant) break;
    }
    if (!meant && words.size() > 1) continue;
    app->description(command.summary + "." +
                     (command.description.empty() ? "" : "\n\n" + command.description));
    if (!meant) continue;
    app->footer(HelpFooter(program, command, words));
    AddGlobalOptions(*app, &session.globals);
    Action action = command.declare(*app, words);
    app->callback([app, chosen, action = std::move(action), starts = command.starts_script] {
      if (!app->get_subcommands().empty()) return;  // `runs delete`: the inner one was meant
      chosen->action = action;
      chosen->starts_script = starts;
    });
  }
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The innermost command that was understood.
const CLI::App* Innermost(const CLI::App& root, std::vector<std::string>* words) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    words->push_back(app->get_name());
  }
  return app;
}

Error UsageError(const CLI::App& root, const CLI::App& app, const std::vector<std::string>& words,
                 const CLI::ParseError& parse_error) {
  std::string said = root.get_name();
  for (const std::string& word : words) said += " " + word;
  Error error = Invalid(OneLine(parse_error.what()));
  const std::vector<std::string> extras = root.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&parse_error) && !extras.empty()) {
    const std::string& word = extras.front();
    const bool is_option = word.starts_with("-");
    std::vector<std::string> candidates = is_option ? OptionNames(app) : SubcommandNames(app);
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

// The parser knows short options of one letter only; Workbench had one of two.
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

void SetUsage(CLI::App& app, std::string usage) {
  TENON_CHECK(usage.starts_with("tenon"));
  app.formatter(std::make_shared<HelpFormatter>(std::move(usage)));
}

int UnknownOption(const CLI::App& app, const std::string& word) {
  Error error = Invalid(app.get_name() + " does not take " + OneLine(word));
  const auto near = DidYouMean(word, OptionNames(app));
  error.hint = near ? "did you mean " + *near + "?"
                    : "options come before the script; `" + WordsBefore(&app) + " " +
                          app.get_name() + " --help` lists them";
  PrintError(error);
  return 2;
}

CommandLine::CommandLine(Session& session, Program program, const std::vector<std::string>* words) {
  const bool az = program == Program::kAz;
  root_ = std::make_unique<CLI::App>(az ? kAboutAz : kAbout, az ? "az ml" : "tenon");
  root_->formatter(std::make_shared<HelpFormatter>());
  // One command, and one below a group (they inherit it): every further word is an argument, also
  // one that is the name of a command.
  root_->require_subcommand(0, 1);
  if (!az) root_->set_version_flag("--version", "tenon " TENON_VERSION);
  root_->footer(az ? "`az ml GROUP COMMAND --help` shows options and examples of each. Groups that "
                     "are not here, and everything but `ml`, go to the next az on the PATH."
                   : "`tenon COMMAND --help` shows options and examples of each.");
  static const std::string nothing;
  const std::string* said = !words ? nullptr : words->empty() ? &nothing : &words->front();
  for (const Command& command : AllCommands()) {
    AddCommand(*root_, program, command, said, session, &chosen_);
  }
}

CommandLine::~CommandLine() = default;

Line CommandLine::Parse(const std::vector<std::string>& typed) {
  Line line;
  const std::vector<std::string> words = WithLongNames(typed);
  try {
    root_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    line.kind = Line::Kind::kPrint;
    line.text = Help(Innermost(*root_, &line.words));
    return line;
  } catch (const CLI::CallForVersion& version) {
    line.kind = Line::Kind::kPrint;
    line.text = std::string(version.what()) + "\n";
    return line;
  } catch (const CLI::ParseError& error) {
    line.kind = Line::Kind::kUsage;
    const CLI::App* app = Innermost(*root_, &line.words);
    line.error = UsageError(*root_, *app, line.words, error);
    return line;
  }
  const CLI::App* app = Innermost(*root_, &line.words);
  line.action = chosen_.action;
  line.starts_script = chosen_.starts_script;
  if (!line.action) {
    line.kind = words.empty() ? Line::Kind::kPrint : Line::Kind::kWhich;
    line.text = Help(app);
  }
  return line;
}

}  // namespace tenon::cli
