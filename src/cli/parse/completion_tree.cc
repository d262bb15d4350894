// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/completion_tree.h"

#include <algorithm>
#include <optional>

#include "cli/parse/command_tree.h"

namespace tenon::cli {
namespace {

using Kind = CompletionValue::Kind;

std::string FirstLine(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.ends_with('.')) line.pop_back();
  return line;
}

bool HasName(const Option& option, const std::string& name) {
  const auto& names = option.long_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The kind of existing thing that an option names, if any. Depends on the command at `path`.
std::optional<Kind> NamedThing(const Option& option, const std::string& path) {
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

CompletionValue ValueOf(const Option& option, const std::string& path) {
  // The help names an argument by its kind.
  const std::string word = option.is_option() ? option.type() : option.argument();
  if (!option.choices().empty()) return {Kind::kWords, option.choices()};
  if (const auto kind = NamedThing(option, path)) return {*kind, {}};
  if (word == "RUN") return {Kind::kRun, {}};
  if (word == "DIR") return {Kind::kFolder, {}};
  if (word == "SCRIPT") return {Kind::kScript, {}};
  if (word == "FILE") return {Kind::kFile, {}};
  return {};
}

CompletionOption ReadOption(const Option& option, const std::string& path) {
  CompletionOption read;
  for (const std::string& name : option.short_names()) read.names.push_back("-" + name);
  for (const std::string& name : option.long_names()) read.names.push_back("--" + name);
  read.description = FirstLine(option.help());
  read.takes_value = option.takes_value();
  if (read.takes_value) read.value = ValueOf(option, path);
  return read;
}

void ReadNode(const CommandNode& command, const std::string& path,
              std::vector<CompletionNode>* nodes) {
  const OptionTable& table = command.options;
  CompletionNode node;
  node.path = path;
  node.summary = FirstLine(command.description);
  for (const Option& option : table.options()) {
    if (option.is_option()) node.options.push_back(ReadOption(option, path));
    if (option.is_argument()) {
      node.positionals.push_back(ValueOf(option, path));
      node.repeats |= option.takes_many();
    }
  }
  node.rest_is_the_scripts = table.rest_is_the_scripts();
  if (node.rest_is_the_scripts && node.positionals.empty()) {
    // These commands declare no arguments. Only their usage line shows the first one.
    const bool run = table.usage().find(" RUN ") != std::string::npos;
    node.positionals.push_back({run ? Kind::kRun : Kind::kScript, {}});
  }
  for (const auto& child : command.children) node.commands.push_back(child->name);
  nodes->push_back(std::move(node));
  for (const auto& child : command.children) ReadNode(*child, path + "/" + child->name, nodes);
}

}  // namespace

std::vector<CompletionNode> ReadCompletionTree(const CommandNode& root) {
  std::vector<CompletionNode> nodes;
  ReadNode(root, "", &nodes);
  return nodes;
}

}  // namespace tenon::cli
