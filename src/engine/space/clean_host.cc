// SPDX-License-Identifier: Apache-2.0
#include "engine/space/clean_host.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "engine/outputs/fetch.h"
#include "engine/run/runs.h"

namespace tenon::engine {
namespace {

class HostCleaner {
 public:
  HostCleaner(Context& context, Machine& far, const CleanHostOptions& options, Reporter& reporter)
      : context_(context), far_(far), options_(options), reporter_(reporter) {}

  Result<HostCleaned> Run() {
    HostCleaned cleaned;
    run::HostedRequest request;
    request.clean = true;
    request.keep_us = options_.keep_us;
    request.dry_run = options_.dry_run;
    request.force = options_.force;
    TENON_TRY(auto safe, SafeToRemove());
    if (options_.force) {
      cleaned.forced = std::exchange(kept_, {});
    } else {
      request.only = std::move(safe);
    }
    TENON_TRY(cleaned.containers, SweepContainers(request));
    if (options_.environments) {
      TENON_TRY(cleaned.environments, RemoveEnvironments());
    }
    TENON_TRY(cleaned.hosted, far_.services().Hosted(request));
    std::set<std::string> told;
    for (const run::Kept& one : cleaned.hosted.kept) told.insert(one.name);
    for (run::Kept& one : kept_) {
      if (!told.contains(one.name)) cleaned.hosted.kept.push_back(std::move(one));
    }
    return cleaned;
  }

 private:
  // The runs that this home has whole, after fetching what is missing.
  Result<std::vector<std::string>> SafeToRemove() {
    TENON_TRY(const run::HostedAnswer there, far_.services().Hosted({}));
    std::vector<std::string> safe;
    for (const run::HostedRun& run : there.runs) {
      if (run.alive) continue;
      const bool old =
          run.ended_us == 0 || context_.clock->NowUs() - run.ended_us >= options_.keep_us;
      if (auto why = WhyItStays(run, old)) {
        if (old) kept_.push_back({run.run_id, std::move(*why)});
      } else {
        safe.push_back(run.run_id);
      }
    }
    return safe;
  }

  std::optional<std::string> WhyItStays(const run::HostedRun& run, bool old) {
    const std::string& id = run.run_id;
    const auto spec = run::IsValidRunId(id) ? SubmittedSpec(context_, id)
                                            : Result<std::optional<run::RunSpec>>(std::nullopt);
    if (!spec.ok() || !*spec || !IsReached((*spec)->host)) {
      return "this client does not know it, and another one may not have fetched it; `tenon runs "
             "fetch -t " +
             far_.known().target + " " + id + "` takes it over, --force removes it";
    }
    if (OutputsFetched(context_, id)) return Secured(id);
    if (options_.dry_run || !old) return std::nullopt;
    if (auto looked = RefreshRun(context_, id, Look::kThere, &reporter_); !looked.ok()) {
      return "its end or its outputs could not be fetched: " + looked.error().message;
    }
    const auto known = GetRun(context_, id);
    if (!known.ok()) return known.error().message;
    if (!run::IsFinal(known->state)) return "its end is not known here yet";
    if (known->outputs_left) {
      return "its outputs are not collected; `tenon runs collect " + id + "` does that";
    }
    if (!known->end->never_started && !OutputsFetched(context_, id)) {
      return "its outputs could not be fetched";
    }
    return Secured(id);
  }

  // A machine may be attached under several names; its runs may belong to any of them.
  bool IsReached(const std::string& host_id) const {
    return host_id == far_.known().id || (!host_id.empty() && !IsDetached(context_.home, host_id));
  }

  std::optional<std::string> Secured(const std::string& id) {
    if (options_.dry_run) return std::nullopt;
    auto secured = SecureFetched(context_, id);
    if (secured.ok()) return std::nullopt;
    return "what is here of it may not be on the disk: " + secured.error().message;
  }

  // With `only` the containers of those runs, also those that were to be kept; and of other runs
  // that are over, the containers that were not to be kept.
  Result<run::SweepAnswer> SweepContainers(const run::HostedRequest& request) {
    if (!request.only) return far_.services().Sweep({{}, /*all=*/true, options_.dry_run});
    TENON_TRY(auto ours, far_.services().Sweep({*request.only, /*all=*/false, options_.dry_run}));
    TENON_TRY(auto rest, far_.services().Sweep({{}, /*all=*/true, options_.dry_run, true}));
    for (std::string& name : rest.removed) {
      if (std::count(ours.removed.begin(), ours.removed.end(), name) == 0) {
        ours.removed.push_back(std::move(name));
      }
    }
    ours.kept = std::move(rest.kept);
    return ours;
  }

  Result<run::EnvironmentsAnswer> RemoveEnvironments() {
    TENON_TRY(const auto listed, far_.services().Environments({}));
    run::EnvironmentsRequest remove;
    remove.dry_run = options_.dry_run;
    for (const run::ListedEnvironment& one : listed.environments) {
      remove.remove.push_back(one.record.ready.key);
    }
    return far_.services().Environments(remove);
  }

  Context& context_;
  Machine& far_;
  const CleanHostOptions& options_;
  Reporter& reporter_;
  std::vector<run::Kept> kept_;
};

}  // namespace

Result<HostCleaned> CleanHost(Context& context, Machine& far, const CleanHostOptions& options,
                              Reporter& reporter) {
  return HostCleaner(context, far, options, reporter).Run();
}

}  // namespace tenon::engine
