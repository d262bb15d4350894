// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/parse/request_options.h"
#include "cli/print/print.h"
#include "cli/runs/watch.h"
#include "engine/run/heal.h"
#include "engine/run/runs.h"
#include "engine/run/submit.h"
#include "project/files/container_keys.h"
#include "project/files/password.h"

namespace tenon::cli {
namespace {

struct Options {
  WatchOptions watch;
  EnvironmentOptions made;
  std::string grace, timeout, gpus;
  std::vector<std::string> secrets;
};

Result<int> Act(Session& session, const Options& options, std::vector<std::string> words) {
  if (words.empty()) {
    return Invalid("which run shall run again?")
        .WithHint("`tenon rerun last` repeats the newest one");
  }
  engine::RerunRequest request;
  TENON_TRY(request.run_id, session.ResolveRun(words.front()));
  words.erase(words.begin());
  if (!words.empty()) request.arguments = words;
  TENON_TRY(request.grace_us, ParseTime("--grace", options.grace));
  TENON_TRY(request.timeout_us, ParseTime("--timeout", options.timeout));
  TENON_TRY(request.secrets, ReadSecrets(options.secrets, session.environment));
  request.refresh_environment = options.made.refresh;
  request.keep_on_fail = options.made.keep_on_fail;
  if (!options.gpus.empty()) {
    TENON_TRY(request.gpus, project::ParseGpusOption(options.gpus));
  }
  request.environment = session.environment;
  TENON_TRY(engine::Context * context, session.Context());
  InterruptWatch interrupt;
  TerminalReporter reporter({.quiet = options.watch.quiet, .show_output = !options.watch.quiet});
  const std::vector<engine::Secret> secrets = request.secrets;
  // Files that are damaged in a store are taken from the project's folder, if they have not
  // changed.
  TENON_TRY(const auto project, session.FindProject());
  if (project) request.folder = {project->root, project::RedactPassword};
  StartOfRun how;
  how.start = [&] { return engine::Rerun(*context, request, reporter); };
  how.mend = [&](const std::string& run_id) -> Status {
    TENON_TRY(const journal::RunView failed, engine::GetRun(*context, run_id));
    return engine::HealTree(*context, request.folder, failed.spec.tree, request.run_id);
  };
  return StartAndWatch(session, how, options.watch, secrets, interrupt, reporter);
}

}  // namespace

Command RerunCommand() {
  return {
      {{"rerun"}},
      "Run a recorded run's files again, as a new run",
      "The files are those of the recorded run, not the present ones. Arguments after the "
      "run's name "
      "replace all the old ones.",
      {"tenon rerun last", "tenon rerun 12 --epochs 20"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        AddWatchOptions(table, &options->watch);
        table.Add("--grace", &options->grace, "How long a canceled script may take to end (30s)")
            .Type("TIME");
        table.Add("--timeout", &options->timeout, "Stop the script after this long").Type("TIME");
        table
            .Add("--secret", &options->secrets,
                 "Give the script a secret: NAME, NAME=@FILE, NAME=$VAR")
            .Type("NAME")
            .OneEach();
        table
            .Add("--gpus", &options->gpus,
                 "GPUs that a container gets: all, none, how many, or UUIDs with commas "
                 "between (as before)")
            .Type("WHICH");
        AddEnvironmentOptions(table, &options->made);
        table.RestIsTheScripts();
        table.Usage("tenon rerun [OPTIONS] RUN [ARGUMENTS...]");
        return [&table, options](Session& session) -> Result<int> {
          const std::vector<std::string>& rest = table.rest();
          if (!rest.empty() && rest.front().starts_with("-"))
            return UnknownOption(table, rest.front());
          return Act(session, *options, rest);
        };
      },
      /*starts_script=*/true};
}

}  // namespace tenon::cli
