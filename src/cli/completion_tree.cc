// SPDX-License-Identifier: Apache-2.0
#include "cli/completion_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/text.h"

namespace tenon::cli {
namespace {

using Kind = CompletionValue::Kind;

std::string FirstLine(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.ends_with('.')) line.pop_back();
  return line;
}

// CLI11 describes a choice as "{json,jsonc,table}" in the name of the option's type.
std::vector<std::string> Choices(const std::string& type_name) {
  const size_t open = type_name.find('{'), close = type_name.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return Split(type_name.substr(open + 1, close - open - 1), ',');
}

bool HasName(const CLI::Option& option, const std::string& name) {
  const auto& names = option.get_lnames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The name of a thing that is there already, by the command that asks for it.
std::optional<Kind> NamedThing(const CLI::Option& option, const std::string& path) {
  if (HasName(option, "run-configuration")) return Kind::kConfiguration;
  if (HasName(option, "target")) return Kind::kTarget;
  if (!HasName(option, "name")) return std::nullopt;
  for (const char* command :
       {"/computetarget/show", "/computetarget/update", "/computetarget/detach"}) {
    if (path == command) return Kind::kTarget;
  }
  if (path.starts_with("/runconfiguration") && path.ends_with("/delete"))
    return Kind::kConfiguration;
  return std::nullopt;
}

CompletionValue ValueOf(const CLI::Option& option, const std::string& path) {
  const std::string type = option.get_type_name();
  // A positional is named in the help by what it is.
  const std::string word =
      option.nonpositional() ? type.substr(0, type.find(':')) : option.get_name(true);
  if (auto choices = Choices(type); !choices.empty()) return {Kind::kWords, std::move(choices)};
  if (const auto kind = NamedThing(option, path)) return {*kind, {}};
  if (word == "RUN") return {Kind::kRun, {}};
  if (word == "DIR") return {Kind::kFolder, {}};
  if (word == "SCRIPT") return {Kind::kScript, {}};
  if (word == "FILE") return {Kind::kFile, {}};
  return {};
}

CompletionOption ReadOption(const CLI::Option& option, const std::string& path) {
  CompletionOption read;
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  read.description = FirstLine(option.get_description());
  read.takes_value = option.get_items_expected_max() > 0;
  if (read.takes_value) read.value = ValueOf(option, path);
  return read;
}

void ReadNode(const CLI::App& app, const std::string& path, std::vector<CompletionNode>* nodes) {
  CompletionNode node;
  node.path = path;
  node.summary = FirstLine(app.get_description());
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) node.options.push_back(ReadOption(*option, path));
    if (option->get_positional()) {
      node.positionals.push_back(ValueOf(*option, path));
      node.repeats |= option->get_items_expected_max() > 1;
    }
  }
  if (app.get_prefix_command() && node.positionals.empty()) {
    // These take their words as they are; only the usage line names them.
    const bool run = app.help().find(" RUN ") != std::string::npos;
    node.positionals.push_back({run ? Kind::kRun : Kind::kScript, {}});
  }
  node.rest_is_the_scripts = app.get_prefix_command();
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) node.commands.push_back(sub->get_name());
  nodes->push_back(std::move(node));
  for (const CLI::App* sub : below) ReadNode(*sub, path + "/" + sub->get_name(), nodes);
}

}  // namespace

std::vector<CompletionNode> ReadCompletionTree(const CLI::App& root) {
  std::vector<CompletionNode> nodes;
  ReadNode(root, "", &nodes);
  return nodes;
}

}  // namespace tenon::cli
