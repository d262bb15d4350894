// SPDX-License-Identifier: Apache-2.0
#include "engine/host/far_runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/outputs/fetch.h"
#include "engine/run/run_folders.h"
#include "engine/run/submit.h"
#include "history/store.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kMaxClaim = 4096;

}  // namespace

std::unique_ptr<RunFeed> FarRuns::Feed(const std::string& run_id, FeedSink sink) {
  return std::make_unique<Mirror>(context_, far_, run_id, std::move(sink.on_records),
                                  std::move(sink.on_cut), &ahead_);
}

bool FarRuns::HadRun(const journal::RunView& run) const {
  if (WasHandedOver(run)) return true;
  struct stat st {};
  const std::string copy = run::RunFolder(context_.home, run.spec.id).host_segment();
  return ::stat(copy.c_str(), &st) == 0 && st.st_size > 0;
}

// The run is not ended here: its file system may only be unmounted. The user decides that it is
// over.
Error FarRuns::LostRun(const std::string& run_id, Error /*said*/) const {
  return NotFound(far_.host().Describe() + " has no run " + run_id +
                  " any more: the machine was reinstalled, or its folder was removed")
      .WithHint("`tenon cancel " + run_id + "` ends it here, with what was copied so far");
}

Status FarRuns::GiveUp(const std::string& run_id) {
  Reporter silent;
  (void)FetchOutputs(run_id, silent).ok();
  return MarkFetched(context_, run_id);
}

std::string FarRuns::StartedAgainAs(const std::string& run_id) {
  const auto told = far_.host().ReadFrom(far_.home().retry_of(run_id), 0, kMaxClaim);
  return told.ok() ? std::string(Trim(*told)) : "";
}

Status FarRuns::FetchOutputs(const std::string& run_id, Reporter& reporter) {
  return engine::FetchOutputs(context_, far_, run_id, reporter);
}

Status FarRuns::BringHome(const std::string& run_id, Reporter& reporter) {
  TENON_TRY_VOID(FetchOutputs(run_id, reporter));
  return CollectThere(run_id, reporter);
}

Status FarRuns::CollectThere(const std::string& run_id, Reporter& reporter) {
  if (OutputsFetched(context_, run_id)) return {};
  TENON_TRY(history::HistoryStore * store, context_.History());
  const auto run = store->Get(run_id);
  if (!run.ok() || !run->outputs_left) return {};
  const auto collected = far_.services().Collect(run_id);
  if (!collected.ok()) {
    reporter.OnNotice({run::Level::kWarning,
                       "outputs of " + run_id + " are still not collected on " +
                           far_.host().Describe() + ": " + collected.error().message,
                       "tenon runs collect " + run_id});
    return {};
  }
  TENON_TRY_VOID(Feed(run_id, {})->CatchUp());
  return FetchOutputs(run_id, reporter);
}

Status FarRuns::FetchObjects(const std::vector<WantedObject>& wanted, std::string_view what,
                             Reporter& reporter) {
  TENON_TRY_VOID(engine::FetchObjects(context_, far_, wanted, what, reporter));
  return {};
}

Status FarRuns::FetchTree(const std::string& root, std::string_view what, Reporter& reporter,
                          const std::function<Status()>& accept) {
  TENON_TRY_VOID(engine::FetchTree(context_, far_, root, what, reporter));
  return accept();
}

// Removes the whole folder of a run: its journal and its outputs are in our home.
Result<CleanedRuns> FarRuns::Clean(const CleanScope& scope, Reporter& /*reporter*/) {
  CleanedRuns cleaned;
  TENON_TRY(const run::HostedAnswer there, far_.services().Hosted({}));
  run::HostedRequest request;
  request.dry_run = scope.dry_run;
  for (const run::HostedRun& run : there.runs) {
    const auto spec = SpecOf(context_, run.run_id);
    if (!spec || spec->host != far_.known().id) continue;
    if (!scope.project_id.empty() && spec->project_id != scope.project_id) continue;
    cleaned.runs.push_back(run.run_id);
    if (run.alive) {
      ++cleaned.going;
    } else if (!OutputsFetched(context_, run.run_id)) {
      cleaned.kept.push_back({run.run_id, "its outputs have not been fetched yet; `tenon status " +
                                              run.run_id + "` does that"});
    } else {
      if (!scope.dry_run) TENON_TRY_VOID(SecureFetched(context_, run.run_id));
      request.remove.push_back(run.run_id);
    }
  }
  if (request.remove.empty()) return cleaned;
  TENON_TRY(const run::HostedAnswer done, far_.services().Hosted(request));
  cleaned.folders = done.removed.size();
  cleaned.bytes_freed = done.bytes_freed;
  cleaned.kept.insert(cleaned.kept.end(), done.kept.begin(), done.kept.end());
  return cleaned;
}

}  // namespace tenon::engine
