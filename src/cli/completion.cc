// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/completion_tree.h"
#include "cli/print.h"

namespace tenon::cli {
namespace {

Result<int> Act(const CLI::App& app, const std::string& shell) {
  const CLI::App* root = &app;
  while (root->get_parent()) root = root->get_parent();
  const std::vector<CompletionNode> nodes = ReadCompletionTree(*root);
  PrintOut(shell == "bash"  ? BashCompletion(nodes)
           : shell == "zsh" ? ZshCompletion(nodes)
                            : FishCompletion(nodes));
  return 0;
}

}  // namespace

Command CompletionCommand() {
  return {{{"completion"}},
          "Print a script that lets a shell complete tenon's commands",
          "",
          {"source <(tenon completion bash)", "tenon completion zsh > ~/.zfunc/_tenon",
           "tenon completion fish > ~/.config/fish/completions/tenon.fish"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto shell = std::make_shared<std::string>();
            app.add_option("SHELL", *shell, "bash, zsh or fish")
                ->required()
                ->check(CLI::IsMember({"bash", "zsh", "fish"}));
            return [&app, shell](Session&) { return Act(app, *shell); };
          }};
}

}  // namespace tenon::cli
