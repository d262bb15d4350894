// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/targets/host_name.h"
#include "engine/run/adopt.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string target;
  std::vector<std::string> runs;
  bool all_projects = false, dry_run = false;
};

// The runs that were named, or else all runs on the machine that this home does not know.
Result<std::vector<std::string>> Choose(engine::Context& context, engine::Machine& machine,
                                        const Options& options, const std::string& project) {
  if (!options.runs.empty() && !options.dry_run) return options.runs;
  TENON_TRY(const auto there, engine::RunsToAdopt(context, machine));
  std::vector<std::string> chosen;
  for (const run::HostedRun& run : there) {
    const bool named = options.runs.empty() ||
                       std::count(options.runs.begin(), options.runs.end(), run.run_id) > 0;
    const bool ours = options.all_projects || !options.runs.empty() || run.project == project;
    if (named && ours) chosen.push_back(run.run_id);
  }
  return chosen;
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const engine::HostRecord host, FindHost(session, options.target));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(engine::Machine * machine, context->At(host.id));
  TENON_TRY(const auto project, session.FindProject());
  if (!project && options.runs.empty() && !options.all_projects) {
    return Invalid("this folder is no project, so it is not clear whose runs are meant")
        .WithHint("be in the project, name runs, or give --all-projects");
  }
  const std::string name = project ? project->name : "";
  TENON_TRY(const auto chosen, Choose(*context, *machine, options, name));
  json::Array fetched;
  uint64_t known = 0;
  for (const std::string& run_id : chosen) {
    engine::Adopted adopted = engine::Adopted::kNew;
    if (!options.dry_run) {
      TerminalReporter reporter({});
      engine::AdoptRequest request{run_id, host.id, "", options.runs.empty()};
      const bool ours = project && run_id.starts_with(run::RunIdStem(name) + "_");
      if (ours) request.project_id = project->id;
      TENON_TRY(adopted, engine::Adopt(*context, *machine, request, reporter));
    }
    if (adopted == engine::Adopted::kKnown) {
      ++known;
      continue;
    }
    fetched.emplace_back(json::EncodeBytes(run_id));
    if (!session.WantsJson()) {
      PrintOut((options.dry_run ? "would fetch " : "fetched ") + OneLine(run_id) + "\n");
    }
  }
  if (session.WantsJson()) PrintValue(session, fetched);
  FlushOut();
  if (fetched.empty()) {
    PrintErr(known > 0 ? "known here already\n" : "no run there that is not known here\n");
  }
  return 0;
}

}  // namespace

Command RunsFetchCommand() {
  return {
      {{"runs", "fetch"}},
      "Take over runs on a machine that another client has started",
      "For a project that is used from several computers, or whose first computer is gone: runs "
      "of this project on that machine that are not known here get known, with journal, files "
      "and outputs, and can be watched and canceled from here. A run that goes on goes on.",
      {"tenon runs fetch -t my_dsvm", "tenon runs fetch -t my_dsvm proj_1510848000000",
       "tenon runs fetch -t my_dsvm --dry-run"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Add("RUN", &options->runs, "Ids of runs; none: all of this project");
        table.Add("-t,--target", &options->target, "The machine").Type("NAME").Required();
        table.Flag("--all-projects", &options->all_projects, "Runs of other projects too");
        table.Flag("--dry-run", &options->dry_run, "Fetch nothing, say which there are");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
