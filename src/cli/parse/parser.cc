// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "base/check.h"
#include "base/text.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kUsage = "Usage: ";

// Lists subcommands with the first line of their description. May have a usage line of its own.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (usage_.empty()) return CLI::Formatter::make_usage(app, std::move(name));
    return std::string(kUsage) + usage_ + "\n";
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

CLI::Option* AddByTarget(CLI::App& app, const Option& option) {
  return std::visit(
      [&](auto target) -> CLI::Option* {
        using Target = decltype(target);
        if constexpr (std::is_same_v<Target, Option::Asks>) {
          return target == Option::Asks::kHelp
                     ? app.set_help_flag(option.names(), option.help())
                     : app.set_version_flag(option.names(), "", option.help());
        } else if constexpr (std::is_same_v<Target, bool*>) {
          return app.add_flag(option.names(), *target, option.help());
        } else {
          return app.add_option(option.names(), *target, option.help());
        }
      },
      option.target());
}

using Options = std::map<const Option*, CLI::Option*>;

void AddOption(CLI::App& app, const Option& option, Options* known) {
  CLI::Option* added = AddByTarget(app, option);
  (*known)[&option] = added;
  if (option.takes_value()) added->type_name(option.type());
  if (option.required()) added->required();
  if (!option.choices().empty()) added->check(CLI::IsMember(option.choices()));
  if (const auto& range = option.range()) added->check(CLI::Range(range->first, range->second));
  if (option.one_each()) added->allow_extra_args(false);
  if (option.value_may_be_missing()) added->expected(0, 1);
  if (option.any_case()) added->ignore_case();
  if (option.global()) added->group("Global options");
  for (const Option* other : option.excluded()) {
    const auto found = known->find(other);
    TENON_CHECK(found != known->end());  // declared earlier in the same table
    added->excludes(found->second);
  }
}

void AddOptions(CLI::App& app, const OptionTable& table, Options* known) {
  for (const Option& option : table.options()) AddOption(app, option, known);
  if (table.rest_is_the_scripts()) app.prefix_command();
}

// Allows one command, and one below a group (subcommands inherit it). All further words are
// arguments, even if a command has that name.
void TakeOneCommand(CLI::App& app) { app.require_subcommand(0, 1); }

// The tree in the library's form, with only the commands that the words name. Leaving out the
// others saves most of the time of a short call.
struct Tree {
  Options options;
  std::vector<std::pair<CommandNode*, const CLI::App*>> apps;
};

void AddNode(CLI::App& app, CommandNode& node, const std::vector<std::string>& words, Tree* tree) {
  AddOptions(app, node.options, &tree->options);
  tree->apps.emplace_back(&node, &app);
  for (const auto& child : node.children) {
    if (std::find(words.begin(), words.end(), child->name) != words.end()) {
      AddNode(*app.add_subcommand(child->name, ""), *child, words, tree);
    }
  }
}

CommandNode* Innermost(CommandNode& root, const CLI::App& app) {
  CommandNode* node = &root;
  const CLI::App* understood = &app;
  while (!understood->get_subcommands().empty()) {
    understood = understood->get_subcommands().front();
    node = node->Find(understood->get_name());
  }
  return node;
}

void NoteWhatWasGiven(const Tree& tree) {
  for (const auto& [node, app] : tree.apps) {
    for (Option& option : node->options.options()) {
      option.set_given(tree.options.at(&option)->count() > 0);
    }
    node->options.set_rest(app->remaining());
  }
}

std::string ProgramOf(const CommandNode& node) {
  const CommandNode* root = &node;
  while (root->parent) root = root->parent;
  return root->name;
}

// One node with the names of its children, for its help.
struct HelpApp {
  explicit HelpApp(const CommandNode& node) : app(node.description, node.name) {
    std::string usage = node.options.usage();
    if (!usage.empty()) usage.replace(0, std::string_view("tenon").size(), ProgramOf(node));
    formatter = std::make_shared<HelpFormatter>(std::move(usage));
    app.formatter(formatter);
    app.footer(node.footer);
    TakeOneCommand(app);
    Options options;
    AddOptions(app, node.options, &options);
    for (const auto& child : node.children) app.add_subcommand(child->name, child->description);
  }
  CLI::App app;
  std::shared_ptr<HelpFormatter> formatter;
};

}  // namespace

Parsed ParseWords(CommandNode& root, const std::vector<std::string>& words) {
  Parsed parsed;
  CLI::App app("", root.name);
  TakeOneCommand(app);
  Tree tree;
  AddNode(app, root, words, &tree);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    NoteWhatWasGiven(tree);
  } catch (const CLI::CallForHelp&) {
    parsed.kind = Parsed::Kind::kHelp;
  } catch (const CLI::CallForVersion&) {
    parsed.kind = Parsed::Kind::kVersion;
  } catch (const CLI::ParseError& error) {
    parsed.kind = Parsed::Kind::kWrong;
    parsed.problem = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
      const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
      if (!extras.empty()) parsed.unknown = extras.front();
    }
  }
  parsed.command = Innermost(root, app);
  return parsed;
}

std::string HelpText(const CommandNode& node) {
  const HelpApp help(node);
  return help.formatter->make_help(&help.app, node.options.command(), CLI::AppFormatMode::Normal);
}

std::string UsageLine(const CommandNode& node) {
  const HelpApp help(node);
  const std::string line = help.formatter->make_usage(&help.app, node.options.command());
  TENON_CHECK(line.starts_with(kUsage));
  return std::string(Trim(std::string_view(line).substr(kUsage.size())));
}

}  // namespace tenon::cli
