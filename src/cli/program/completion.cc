// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/parse/command_line.h"
#include "cli/parse/completion_tree.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "engine/run/runs.h"
#include "project/project.h"

namespace tenon::cli {
namespace {

constexpr size_t kOfferedRuns = 50;

struct Options {
  std::string shell;
  std::string offer;
};

Result<std::vector<std::string>> Runs(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::Refresh(*context));
  history::RunQuery query;
  TENON_TRY(query.project_id, session.ProjectId());
  query.limit = kOfferedRuns;
  TENON_TRY(history::HistoryStore * store, context->History());
  query.include_unreadable = true;
  std::vector<std::string> names;
  TENON_TRY_VOID(store->Visit(query, [&](const history::RunRow& run) {
    if (!run.untold) names.push_back(std::to_string(run.spec.number));
    names.push_back(run.spec.id);
    return Status();
  }));
  return names;
}

Result<std::vector<std::string>> Names(Session& session, const std::string& kind) {
  if (kind == "run") return Runs(session);
  TENON_TRY(const std::string cwd, CurrentFolder());
  std::optional<std::string> given;
  if (!session.globals.project.empty()) given = session.globals.project;
  TENON_TRY(const project::Project found, project::OpenProject(cwd, given));
  std::vector<std::string> names;
  if (kind == "target") {
    for (const auto& target : project::ListTargets(found)) names.push_back(target.name);
  } else {
    for (const auto& entry : project::ListRunConfigurations(found)) names.push_back(entry.name);
  }
  return names;
}

Result<int> Act(Session& session, const Options& options) {
  if (!options.offer.empty()) {
    TENON_TRY(const std::vector<std::string> names, Names(session, options.offer));
    for (const std::string& name : names) {
      if (name.find('\n') == std::string::npos) PrintOut(name + "\n");
    }
    return 0;
  }
  if (options.shell.empty()) {
    return Invalid("for which shell?").WithHint("`tenon completion bash`, zsh or fish");
  }
  Session unused;
  const CommandLine all(unused, Program::kTenon);
  const std::vector<CompletionNode> nodes = ReadCompletionTree(all.root());
  PrintOut(options.shell == "bash"  ? BashCompletion(nodes)
           : options.shell == "zsh" ? ZshCompletion(nodes)
                                    : FishCompletion(nodes));
  return 0;
}

}  // namespace

Command CompletionCommand() {
  return {{{"completion"}},
          "Print a script that lets a shell complete tenon's commands",
          "Commands, options and files, and the names of this project's runs, targets and run "
          "configurations.",
          {"source <(tenon completion bash)", "tenon completion zsh > ~/.zfunc/_tenon",
           "tenon completion fish > ~/.config/fish/completions/tenon.fish"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("SHELL", &options->shell, "bash, zsh or fish").OneOf({"bash", "zsh", "fish"});
            table
                .Add("--offer", &options->offer,
                     "For the scripts: print names of this kind, one a line")
                .OneOf({"run", "target", "configuration"})
                .Type("KIND");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
