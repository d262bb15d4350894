// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "engine/space/space.h"
#include "project/resolve.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string run_configuration, target;
  bool dry_run = false, yes = false;
};

// The project and the target that the options name. A target alone needs no run configuration.
Result<project::Resolved> WhichTarget(const Session& session, const Options& options) {
  project::Request request;
  TENON_TRY(request.cwd, CurrentFolder());
  request.project_dir = GivenProject(session);
  if (!options.target.empty() && options.run_configuration.empty()) {
    project::Resolved alone;
    TENON_TRY(alone.project, project::OpenProject(request.cwd, request.project_dir));
    auto target = project::ReadTarget(alone.project, options.target);
    if (target.ok()) {
      alone.target_name = {options.target, project::Origin::Option("-t")};
      alone.target = *std::move(target);
      TENON_TRY_VOID(project::CheckSupported(alone));
      return alone;
    }
  }
  request.only_look = true;
  if (!options.run_configuration.empty()) request.run_configuration = options.run_configuration;
  if (!options.target.empty()) request.target = options.target;
  TENON_TRY(project::Resolved resolved, project::Resolve(request));
  TENON_TRY_VOID(project::CheckSupported(resolved));
  return resolved;
}

std::string What(const engine::CleanResult& result) {
  std::string text = HumanBytes(result.bytes_freed) + ": " +
                     Count(result.work_folders, "run directory", "run directories");
  if (!result.containers.empty()) {
    text += ", " + Count(result.containers.size(), "container", "containers");
  }
  if (!result.environments.empty()) {
    text += ", " + Count(result.environments.size(), "environment", "environments");
  }
  return text + " and caches";
}

json::Object ToJson(const engine::CleanResult& result, const std::string& target, bool dry_run) {
  json::Array containers, environments, kept;
  for (const std::string& name : result.containers) {
    containers.push_back(json::Value(json::EncodeBytes(name)));
  }
  for (const std::string& key : result.environments) environments.push_back(json::Value(key));
  for (const run::Kept& one : result.kept) {
    kept.push_back(
        json::Object{{"name", json::EncodeBytes(one.name)}, {"why", json::EncodeBytes(one.why)}});
  }
  return {{"target", json::EncodeBytes(target)},
          {"dry_run", dry_run},
          {"work_folders", result.work_folders},
          {"going", result.going},
          {"containers", std::move(containers)},
          {"environments", std::move(environments)},
          {"kept", std::move(kept)},
          {"bytes_freed", result.bytes_freed}};
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const project::Resolved resolved, WhichTarget(session, options));
  TENON_TRY(engine::Context * context, session.Context());
  engine::CleanOptions clean;
  clean.project_id = resolved.project.id.value;
  clean.project_root = resolved.project.root;
  clean.target = resolved.target_name.value;
  TENON_TRY(clean.host, HostOfTarget(session, resolved.project, resolved.target));
  clean.containers = run::TraitsOf(project::ToRunSpec(resolved).executor).in_engine;
  clean.dry_run = options.dry_run;
  const bool ask = !options.dry_run && !options.yes && ::isatty(STDIN_FILENO) == 1;
  if (ask) {
    clean.dry_run = true;
    TerminalReporter reporter({});
    TENON_TRY(const auto would, engine::CleanTarget(*context, clean, reporter));
    if (would.work_folders + would.containers.size() + would.environments.size() > 0) {
      TENON_TRY(const bool yes, AskYes("remove " + What(would) + " of this project on " +
                                           OneLine(resolved.target_name.value) + "?",
                                       "--yes"));
      if (!yes) {
        PrintErr("nothing was removed\n");
        return 1;
      }
    }
    clean.dry_run = false;
  }
  engine::CleanResult result;
  {
    TerminalReporter reporter({});
    TENON_TRY(result, engine::CleanTarget(*context, clean, reporter));
  }
  if (session.WantsJson()) {
    PrintValue(session, ToJson(result, resolved.target_name.value, options.dry_run));
    return 0;
  }
  PrintOut((options.dry_run ? "would free " : "freed ") + What(result) + "\n");
  if (result.going > 0) {
    PrintErr(Count(result.going, "run is", "runs are") + " going on and " +
             (result.going == 1 ? "was" : "were") + " left alone\n");
  }
  for (const run::Kept& one : result.kept) {
    PrintErr(OneLine(one.name) + " is kept: " + OneLine(one.why) + "\n");
  }
  return 0;
}

}  // namespace

Command ExperimentCleanCommand() {
  return {{{"experiment", "clean"}},
          "Remove what this project's runs have left on a target",
          "These are the run directories of runs that are over, those kept with --keep too, their "
          "containers, the environments (images included) that this project alone has used, and "
          "caches. Logs, metrics, outputs and snapshots stay; `tenon gc` and "
          "`tenon runs delete` are for those. Asks first when on a terminal.",
          {"tenon experiment clean", "tenon experiment clean -t local --dry-run",
           "tenon experiment clean -c docker --yes"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("-t,--target", &options->target, "The target (that of -c)").Type("NAME");
            table
                .Add("-c,--run-configuration", &options->run_configuration,
                     "The run configuration whose target is meant (local)")
                .Type("NAME");
            table.Flag("--dry-run", &options->dry_run, "Remove nothing, say what would go");
            table.Flag("-y,--yes", &options->yes, "Don't ask");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
