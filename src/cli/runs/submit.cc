// SPDX-License-Identifier: Apache-2.0
#include "engine/run/submit.h"

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/not_here.h"
#include "cli/parse/options.h"
#include "cli/parse/request_options.h"
#include "cli/print/print.h"
#include "cli/runs/watch.h"
#include "cli/targets/target_host.h"
#include "project/files/password.h"
#include "project/resolve.h"

namespace tenon::cli {
namespace {

struct Options {
  WatchOptions watch;
  RequestOptions request;
  std::string grace, timeout, gpus;
  std::vector<std::string> secrets, environment;
  int64_t retries = 0;
  bool keep = false, dry_run = false, explain = false, wait = false;
  EnvironmentOptions made;
  bool target_is_configuration = false;  // `execute start -t R`, as in spring 2017
};

Result<project::Request> Typed(const Session& session, const Options& options,
                               const std::vector<std::string>& words) {
  TENON_TRY(project::Request request, MakeRequest(session, options.request));
  if (options.target_is_configuration && !request.run_configuration) {
    request.run_configuration.swap(request.target);
  }
  for (const std::string& pair : options.environment) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Invalid("--env " + pair + ": expected NAME=VALUE");
    }
    request.environment.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  if (!options.gpus.empty()) request.gpus = options.gpus;
  if (!words.empty()) {
    if (const auto error = NotHereFile(words.front())) return *error;
    request.script = words.front();
    request.arguments.assign(words.begin() + 1, words.end());
  }
  return request;
}

Result<int> Act(Session& session, const Options& options, const std::vector<std::string>& words) {
  TENON_TRY(const project::Request typed, Typed(session, options, words));
  TENON_TRY(const project::Resolved resolved, project::Resolve(typed));
  TENON_TRY_VOID(project::CheckSupported(resolved));
  engine::SubmitRequest request;
  TENON_TRY(const auto grace, ParseTime("--grace", options.grace));
  TENON_TRY(const auto timeout, ParseTime("--timeout", options.timeout));
  TENON_TRY(request.secrets, ReadSecrets(options.secrets, session.environment));
  for (const std::string& notice : resolved.notices) {
    request.notices.push_back({run::Level::kInfo, notice, ""});
  }
  if (options.explain || options.dry_run) {
    PrintNotices(resolved);
    PrintExplanation(session, resolved);
    if (options.dry_run) {
      PrintErr("nothing was run (--dry-run)\n");
      return 0;
    }
  }
  request.folder = {resolved.project.root, project::RedactPassword};
  request.spec = project::ToRunSpec(resolved);
  request.spec.user = UserName(session);
  request.spec.user_id = project::DerivedId("user/" + request.spec.user);
  request.spec.keep = options.keep;
  request.spec.keep_on_fail = options.made.keep_on_fail;
  request.spec.refresh_environment = options.made.refresh;
  if (grace) request.spec.grace_us = *grace;
  if (timeout) request.spec.timeout_us = *timeout;
  request.spec.retries = options.retries;
  request.environment = session.environment;
  TENON_TRY(request.spec.host, HostOfTarget(session, resolved.project, resolved.target));

  TENON_TRY(engine::Context * context, session.Context());
  InterruptWatch interrupt;
  TerminalReporter reporter({.quiet = options.watch.quiet,
                             .show_output = !options.watch.quiet && !options.watch.detach,
                             .workbench = options.watch.workbench && !session.WantsJson(),
                             .steps = session.globals.debug});
  const std::vector<engine::Secret> secrets = request.secrets;
  StartOfRun how;
  how.start = [&] { return engine::Submit(*context, request, reporter); };
  // The next submit reads every file and puts the damaged ones into the store again.
  how.mend = [&](const std::string&) -> Status {
    request.read_all = true;
    return {};
  };
  return StartAndWatch(session, how, options.watch, secrets, interrupt, reporter);
}

void Declare(OptionTable& table, Options* options) {
  AddTargetOptions(table, &options->request);
  AddDependencyOptions(table, &options->request);
  AddWatchOptions(table, &options->watch);
  table.Flag("--wait", &options->wait, "Wait for the end; that is what it does anyway");
  table.Add("--env", &options->environment, "Set a variable for the script (may be repeated)")
      .Type("NAME=VALUE")
      .OneEach();
  table
      .Add("--secret", &options->secrets,
           "Give the script a secret in its environment, masked wherever we write: NAME, "
           "NAME=@FILE, NAME=$VAR")
      .Type("NAME")
      .OneEach();
  table.Add("--grace", &options->grace, "How long a canceled script may take to end (30s)")
      .Type("TIME");
  table.Add("--timeout", &options->timeout, "Stop the script after this long; exit code 124")
      .Type("TIME");
  table
      .Add("--gpus", &options->gpus,
           "GPUs that a container gets: all, none, how many, or UUIDs with commas between")
      .Type("WHICH");
  table
      .Add("--retries", &options->retries,
           "Start it again, so often, when its machine was restarted meanwhile; whoever looks "
           "next does that (submit, while it watches; status; logs -f)")
      .Between(0, 1000)
      .Type("N");
  AddEnvironmentOptions(table, &options->made);
  table.Flag("--keep", &options->keep, "Keep the run directory also after success");
  table.Flag("--dry-run", &options->dry_run,
             "Show what would run and where each setting comes from; run nothing");
  table.Flag("--explain", &options->explain, "Show every setting and where it comes from");
  table.RestIsTheScripts();
}

}  // namespace

Command SubmitCommand() {
  return {{{"submit"}, {"experiment", "submit"}, {"execute", "start"}},
          "Run a script of this project and watch it",
          "Everything after the script's name belongs to the script. Ctrl-C stops the watching, "
          "not the run. "
          "The exit code is the script's; 125 when it could not be started, 143 when it was "
          "canceled, 124 after "
          "--timeout, 130 after Ctrl-C.",
          {"tenon submit train.py --epochs 20", "tenon submit -c local train.py 0.1",
           "tenon submit -c docker --gpus all train.py", "tenon submit -a train.py",
           "tenon submit --dry-run --explain train.py"},
          [](OptionTable& table, const std::vector<std::string>& words) -> Action {
            auto options = std::make_shared<Options>();
            options->watch.workbench = words.size() > 1;
            options->target_is_configuration = words.front() == "execute";
            Declare(table, options.get());
            table.Usage("tenon " + Join(words, " ") + " [OPTIONS] SCRIPT [ARGUMENTS...]");
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
