// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/command_tree.h"

#include "base/check.h"

namespace tenon::cli {
namespace {

void AddHelp(OptionTable* options) {
  options->Add("-h,--help", Option::Asks::kHelp, "Print this help message and exit");
}

}  // namespace

CommandNode::CommandNode(std::string program, std::string about)
    : name(std::move(program)), description(std::move(about)), options(name) {
  AddHelp(&options);
}

CommandNode::CommandNode(std::string word, std::string about, const CommandNode& above)
    : name(std::move(word)),
      description(std::move(about)),
      footer(above.footer),
      options(above.options.command() + " " + name),
      parent(&above) {
  AddHelp(&options);
}

CommandNode& CommandNode::Add(const std::string& word, std::string about) {
  TENON_CHECK(!Find(word));
  children.emplace_back(new CommandNode(word, std::move(about), *this));
  return *children.back();
}

CommandNode* CommandNode::Find(std::string_view word) const {
  for (const auto& child : children) {
    if (child->name == word) return child.get();
  }
  return nullptr;
}

}  // namespace tenon::cli
