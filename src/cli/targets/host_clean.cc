// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/projects/config_files.h"
#include "cli/runs/watch.h"
#include "cli/targets/host_name.h"
#include "engine/space/clean_host.h"

namespace tenon::cli {
namespace {

constexpr const char* kUsualAge = "7d";

struct Options {
  std::string host, older_than = kUsualAge;
  bool all = false, environments = false, force = false, dry_run = false, yes = false;
};

using Cleaned = engine::HostCleaned;

std::string What(const Cleaned& cleaned) {
  std::string text = Count(cleaned.hosted.removed.size(), "run", "runs");
  if (!cleaned.containers.removed.empty()) {
    text += ", " + Count(cleaned.containers.removed.size(), "container", "containers");
  }
  if (!cleaned.environments.removed.empty()) {
    text += ", " + Count(cleaned.environments.removed.size(), "environment", "environments");
  }
  return text + ", " + HumanBytes(cleaned.hosted.bytes_freed + cleaned.environments.bytes_freed);
}

json::Object ToJson(const Cleaned& cleaned, const std::string& target, bool dry_run) {
  const auto names = [](const std::vector<std::string>& list) {
    json::Array array;
    for (const std::string& name : list) array.emplace_back(json::EncodeBytes(name));
    return array;
  };
  json::Array kept;
  for (const auto* list :
       {&cleaned.hosted.kept, &cleaned.containers.kept, &cleaned.environments.kept}) {
    for (const run::Kept& one : *list) {
      kept.push_back(
          json::Object{{"name", json::EncodeBytes(one.name)}, {"why", json::EncodeBytes(one.why)}});
    }
  }
  json::Array forced;
  for (const run::Kept& one : cleaned.forced) forced.emplace_back(json::EncodeBytes(one.name));
  return {{"target", json::EncodeBytes(target)},
          {"dry_run", dry_run},
          {"runs", names(cleaned.hosted.removed)},
          {"containers", names(cleaned.containers.removed)},
          {"environments", names(cleaned.environments.removed)},
          {"kept", std::move(kept)},
          {"forced", std::move(forced)},
          {"bytes_freed", cleaned.hosted.bytes_freed + cleaned.environments.bytes_freed}};
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const auto age, ParseTime("--older-than", options.older_than));
  const int64_t keep_us = options.all ? 0 : age.value_or(0);
  TENON_TRY(const engine::HostRecord host, FindHost(session, options.host));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(engine::Machine * machine, context->At(host.id));
  engine::CleanHostOptions clean;
  clean.keep_us = keep_us;
  clean.environments = options.environments;
  clean.force = options.force;
  clean.dry_run = true;
  Cleaned cleaned;
  {
    TerminalReporter reporter({.show_output = false});
    TENON_TRY(cleaned, engine::CleanHost(*context, *machine, clean, reporter));
  }
  bool done = false;
  if (!options.dry_run) {
    for (const run::Kept& one : cleaned.forced) {
      PrintErr(OneLine(one.name) + " goes all the same (--force): " + OneLine(one.why) + "\n");
    }
    if (!options.yes) {
      PrintErr("this removes from " + OneLine(host.target) + ": " + What(cleaned) +
               "; what is recorded here stays\n");
      TENON_TRY(const bool yes, AskYes("go on?", "--yes"));
      if (!yes) return 1;
    }
    clean.dry_run = false;
    TerminalReporter reporter({.show_output = false});
    TENON_TRY(cleaned, engine::CleanHost(*context, *machine, clean, reporter));
    done = true;
  }
  if (session.WantsJson()) {
    PrintValue(session, ToJson(cleaned, host.target, !done));
    return 0;
  }
  PrintOut((done ? "removed " : "would remove ") + What(cleaned) + "\n");
  FlushOut();
  for (const auto* list :
       {&cleaned.hosted.kept, &cleaned.containers.kept, &cleaned.environments.kept}) {
    for (const run::Kept& one : *list) {
      PrintErr(OneLine(one.name) + " is kept: " + OneLine(one.why) + "\n");
    }
  }
  return 0;
}

}  // namespace

Command HostCleanCommand() {
  return {
      {{"host", "clean"}},
      "Give back disk space on a machine",
      "Removes journals and folders of runs that ended longer ago than 7 days, the containers of "
      "runs that are over, files that nothing needs and runners of other versions. The end and "
      "the outputs of your runs are fetched first. A run that goes on is never touched; one that "
      "could not be fetched, or that another client has started, is kept and named. Data sets "
      "stay; `tenon data remove` removes one. Asks first.",
      {"tenon host clean my_dsvm --dry-run", "tenon host clean my_dsvm --older-than 1d --yes",
       "tenon host clean my_dsvm --all --environments"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table
            .Add("TARGET", &options->host,
                 "A target of this project, a name of `host list`, or an id")
            .Required();
        table.Add("--older-than", &options->older_than, "Runs that ended longer ago (7d)")
            .Type("TIME");
        table.Flag("--all", &options->all, "Runs of any age");
        table.Flag("--environments", &options->environments,
                   "Environments and images too; the next run makes its own again");
        table.Flag("--force", &options->force,
                   "Also runs of other clients and outputs that nobody has fetched");
        table.Flag("--dry-run", &options->dry_run, "Remove nothing, say what would go");
        table.Flag("-y,--yes", &options->yes, "Don't ask");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
