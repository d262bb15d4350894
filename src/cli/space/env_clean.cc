// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/runs/watch.h"
#include "cli/space/env_name.h"
#include "cli/targets/host_name.h"
#include "engine/space/environments.h"

namespace tenon::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string unused_for, target;
  bool all = false, dry_run = false, yes = false;
};

using Listed = std::vector<run::ListedEnvironment>;

Status CheckChoice(const Options& options) {
  const int ways = (options.names.empty() ? 0 : 1) + (options.unused_for.empty() ? 0 : 1) +
                   (options.all ? 1 : 0);
  if (ways == 1) return {};
  return Invalid(ways == 0 ? "which environments shall be removed?"
                           : "keys, --unused-for and --all can't be said together")
      .WithHint(
          "`tenon env clean KEY…`, `--unused-for 30d` or `--all`; `tenon env list` lists them");
}

// The environments that were chosen, in the order of the listing.
Result<Listed> Choose(const Options& options, const Listed& environments, int64_t now_us) {
  Listed chosen;
  if (!options.names.empty()) {
    for (const std::string& name : options.names) {
      TENON_TRY(const auto* one, engine::FindEnvironment(environments, name));
      const bool twice = std::any_of(chosen.begin(), chosen.end(), [&](const auto& other) {
        return other.record.ready.key == one->record.ready.key;
      });
      if (!twice) chosen.push_back(*one);
    }
    return chosen;
  }
  TENON_TRY(const auto unused_for, ParseTime("--unused-for", options.unused_for));
  for (const run::ListedEnvironment& one : environments) {
    if (unused_for && (one.in_use || now_us - one.last_used_us < *unused_for)) continue;
    chosen.push_back(one);
  }
  return chosen;
}

std::string What(const Listed& chosen) {
  uint64_t bytes = 0, count = 0;
  for (const run::ListedEnvironment& one : chosen) {
    if (one.in_use) continue;
    bytes += one.record.ready.bytes;
    ++count;
  }
  return Count(count, "environment", "environments") + " (" + HumanBytes(bytes) + ")";
}

// Asks before removing, unless that is not needed. True: go on.
Result<bool> Ask(const Options& options, const Listed& chosen) {
  const bool some =
      std::any_of(chosen.begin(), chosen.end(), [](const auto& one) { return !one.in_use; });
  if (options.dry_run || options.yes || !some) return true;
  for (const run::ListedEnvironment& one : chosen) {
    if (one.in_use) continue;
    PrintErr("  " + one.record.ready.key.substr(0, kKeyDigits) + "  " +
             OneLine(one.record.ready.base) + "  " + HumanBytes(one.record.ready.bytes) + "\n");
  }
  return AskYes("remove " + What(chosen) + "?", "--yes");
}

json::Object ToJson(const run::EnvironmentsAnswer& answer, bool dry_run) {
  json::Array removed, kept;
  for (const std::string& key : answer.removed) removed.push_back(json::Value(key));
  for (const run::Kept& one : answer.kept) {
    kept.push_back(json::Object{{"key", one.name}, {"why", json::EncodeBytes(one.why)}});
  }
  return {{"dry_run", dry_run},
          {"removed", std::move(removed)},
          {"kept", std::move(kept)},
          {"bytes_freed", answer.bytes_freed}};
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY_VOID(CheckChoice(options));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string host, HostIdNamed(session, options.target));
  TENON_TRY(const Listed environments, engine::ListEnvironments(*context, host));
  TENON_TRY(const Listed chosen, Choose(options, environments, context->clock->NowUs()));
  TENON_TRY(const bool yes, Ask(options, chosen));
  if (!yes) {
    PrintErr("nothing was removed\n");
    return 1;
  }
  std::vector<std::string> keys;
  for (const run::ListedEnvironment& one : chosen) keys.push_back(one.record.ready.key);
  run::EnvironmentsAnswer answer;
  if (!keys.empty()) {
    TENON_TRY(answer, engine::RemoveEnvironments(*context, keys, options.dry_run, host));
  }
  if (session.WantsJson()) {
    PrintValue(session, ToJson(answer, options.dry_run));
  } else {
    PrintOut((options.dry_run ? "would remove " : "removed ") +
             Count(answer.removed.size(), "environment", "environments") + ", " +
             HumanBytes(answer.bytes_freed) + "\n");
    FlushOut();
  }
  // An environment that stays because a run uses it counts as a failure only if it was named.
  bool failed = !answer.kept.empty() && !options.names.empty();
  for (const run::Kept& one : answer.kept) {
    PrintErr(one.name.substr(0, kKeyDigits) + " is kept: " + OneLine(one.why) + "\n");
    const bool was_in_use = std::any_of(chosen.begin(), chosen.end(), [&](const auto& other) {
      return other.record.ready.key == one.name && other.in_use;
    });
    failed = failed || !was_in_use;
  }
  return failed ? 1 : 0;
}

}  // namespace

Command EnvCleanCommand() {
  return {
      {{"env", "clean"}},
      "Remove environments, images included",
      "Never one that a run uses which goes on. The next run that needs one makes it again. Asks "
      "first; without a terminal to ask on, --yes or --dry-run is needed.",
      {"tenon env clean 3f9a1c", "tenon env clean --unused-for 30d --yes",
       "tenon env clean --all --dry-run", "tenon env clean -t my_dsvm --all"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Add("KEY", &options->names, "Keys, or beginnings of keys");
        table.Add("--unused-for", &options->unused_for, "Those that no run has used for so long")
            .Type("TIME");
        table.Add("-t,--target", &options->target, "On the machine of this target (here)")
            .Type("NAME");
        table.Flag("--all", &options->all, "All of them");
        table.Flag("--dry-run", &options->dry_run, "Remove nothing, say what would go");
        table.Flag("-y,--yes", &options->yes, "Don't ask");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
