// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <map>
#include <memory>
#include <sstream>

#include "base/text.h"
#include "cli/print.h"
#include "version.h"

namespace tenon::cli {
namespace {

constexpr const char* kAbout =
    "Runs a Python project on a machine with a GPU, and keeps a record of every run.";

const std::map<std::string, std::string>& GroupSummaries() {
  static const std::map<std::string, std::string> summaries = {
      {"experiment", "Run scripts (the Workbench's words for submit, cancel, status)"},
      {"history", "What ran before (list, last, info, compare, download, rebuild)"},
      {"runs", "List recorded runs; `runs delete` removes one"},
  };
  return summaries;
}

// What was said and what it does, once the parser has understood the line.
struct Chosen {
  Action action;
  bool starts_script = false;
};

std::string HelpFooter(const Command& command) {
  std::string text;
  if (!command.examples.empty()) {
    text += "Examples:\n";
    for (const std::string& example : command.examples) text += "  " + example + "\n";
  }
  if (command.words.size() > 1) {
    text += "Also: ";
    for (size_t i = 1; i < command.words.size(); ++i) {
      text += (i > 1 ? ", " : "") + std::string("tenon ") + Join(command.words[i], " ");
    }
    text += "\n";
  }
  return text;
}

CLI::App* FindSubcommand(CLI::App& app, const std::string& name) {
  for (CLI::App* sub :
       app.get_subcommands([&](const CLI::App* a) { return a->get_name() == name; }))
    return sub;
  return nullptr;
}

// Lists subcommands with the first line of their description only; a usage line may be given.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage = "") : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage_.empty() ? CLI::Formatter::make_usage(app, std::move(name))
                          : "Usage: " + usage_ + "\n";
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

// The words that lead to a command, without its own: "tenon history".
std::string WordsBefore(const CLI::App* app) {
  std::string words;
  for (app = app->get_parent(); app; app = app->get_parent()) {
    words = app->get_name() + (words.empty() ? "" : " " + words);
  }
  return words;
}

void PrintHelp(const CLI::App* app) {
  PrintOut(app->help(WordsBefore(app)));
  FlushOut();
}

// The parser's tree, one node per word. Groups that are commands themselves (`runs`) are both.
void AddCommand(CLI::App& root, const Command& command, Session& session, Chosen* chosen) {
  for (const auto& words : command.words) {
    CLI::App* app = &root;
    for (const std::string& word : words) {
      CLI::App* next = FindSubcommand(*app, word);
      if (!next) {
        const auto group = GroupSummaries().find(word);
        next = app->add_subcommand(word, group == GroupSummaries().end() ? "" : group->second);
        next->fallthrough(false);
      }
      app = next;
    }
    app->description(command.summary + "." +
                     (command.description.empty() ? "" : "\n\n" + command.description));
    app->footer(HelpFooter(command));
    AddGlobalOptions(*app, &session.globals);
    Action action = command.declare(*app, words);
    app->callback([app, chosen, action = std::move(action), starts = command.starts_script] {
      if (!app->get_subcommands().empty()) return;  // `runs delete`: the inner one was meant
      *chosen = {action, starts};
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
const CLI::App* Innermost(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

int UsageError(const CLI::App& root, const CLI::ParseError& parse_error) {
  const CLI::App* app = Innermost(root);
  std::string said = "tenon";
  for (const CLI::App* a = &root; !a->get_subcommands().empty();) {
    a = a->get_subcommands().front();
    said += " " + a->get_name();
  }
  Error error = Invalid(parse_error.what());
  const std::vector<std::string> extras = root.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&parse_error) && !extras.empty()) {
    const std::string& word = extras.front();
    const bool is_option = word.starts_with("-");
    std::vector<std::string> candidates = is_option ? OptionNames(*app) : SubcommandNames(*app);
    if (is_option || candidates.empty()) {
      error.message = said + " does not take " + word;
    } else {
      error.message = "there is no command `" + said + " " + word + "`";
    }
    if (auto near = DidYouMean(word, candidates)) {
      error.hint = "did you mean `" + (is_option ? *near : said + " " + *near) + "`?";
    }
  }
  if (error.hint.empty()) error.hint = "`" + said + " --help` shows how it is used";
  PrintError(error);
  return 2;
}

}  // namespace

const std::vector<Command>& AllCommands() {
  static const std::vector<Command> commands = {
      SubmitCommand(),         LogsCommand(),        CancelCommand(),
      StatusCommand(),         PsCommand(),          RunsCommand(),
      RunsDeleteCommand(),     ShowCommand(),        MetricsCommand(),
      CompareCommand(),        RerunCommand(),       RestoreCommand(),
      SnapshotCommand(),       TagCommand(),         NoteCommand(),
      HistoryLastCommand(),    HistoryInfoCommand(), HistoryDownloadCommand(),
      HistoryRebuildCommand(), DuCommand(),          GcCommand(),
      CompletionCommand(),     VersionCommand(),
  };
  return commands;
}

void SetUsage(CLI::App& app, std::string usage) {
  app.formatter(std::make_shared<HelpFormatter>(std::move(usage)));
}

int UnknownOption(const CLI::App& app, const std::string& word) {
  Error error = Invalid(app.get_name() + " does not take " + word);
  const auto near = DidYouMean(word, OptionNames(app));
  error.hint =
      near ? "did you mean " + *near + "?"
           : "options come before the script; `tenon " + app.get_name() + " --help` lists them";
  PrintError(error);
  return 2;
}

int ExitCodeFor(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return 2;
    case ErrorKind::kNotFound:
      return 3;
    case ErrorKind::kUnavailable:
      return 4;
    case ErrorKind::kDenied:
      return 5;
    case ErrorKind::kCorrupt:
    case ErrorKind::kInternal:
      return 1;
  }
  return 1;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Session session;
  Chosen chosen;
  CLI::App root(kAbout, "tenon");
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_version_flag("--version", "tenon " TENON_VERSION);
  root.footer("`tenon COMMAND --help` shows options and examples of each.");
  for (const Command& command : AllCommands()) AddCommand(root, command, session, &chosen);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    PrintHelp(Innermost(root));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    PrintOut(std::string(version.what()) + "\n");
    FlushOut();
    return 0;
  } catch (const CLI::ParseError& error) {
    return UsageError(root, error);
  }
  if (!chosen.action) {
    PrintHelp(Innermost(root));
    return Innermost(root) == &root && argc <= 1 ? 0 : 2;
  }
  Result<int> code = chosen.action(session);
  FlushOut();
  if (code.ok()) return *code;
  PrintError(code.error());
  return chosen.starts_script ? 125 : ExitCodeFor(code.error());
}

}  // namespace tenon::cli
