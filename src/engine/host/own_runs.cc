// SPDX-License-Identifier: Apache-2.0
#include "engine/host/own_runs.h"

#include <utility>

#include "base/file.h"
#include "engine/feed/disk_feed.h"
#include "engine/run/run_folders.h"
#include "journal/kept_outputs.h"
#include "run/layout.h"

namespace tenon::engine {

std::unique_ptr<RunFeed> OwnRuns::Feed(const std::string& run_id, FeedSink sink) {
  return std::make_unique<DiskFeed>(context_, run_id, std::move(sink));
}

// The run's folder stays, because it has the only copy of the journal. Its working folder goes.
Result<CleanedRuns> OwnRuns::Clean(const CleanScope& scope, Reporter& reporter) {
  CleanedRuns cleaned;
  const auto is_meant = [&](const run::RunSpec& spec) {
    return spec.target == scope.target &&
           (scope.project_id.empty() || spec.project_id == scope.project_id);
  };
  TENON_TRY(const auto ids, RunIds(context_));
  uint64_t done = 0;
  for (const std::string& id : ids) {
    reporter.OnProgress("reading journals", ++done, ids.size());
    const run::RunFolder folder(context_.home, id);
    const auto spec = SpecOf(context_, id);
    if (spec && is_meant(*spec)) cleaned.runs.push_back(id);
    if (!IsDirectory(folder.work())) continue;
    const auto view = journal::FoldRunFolder(folder.path());
    if (!view.ok()) continue;  // `gc` deals with those
    if (!is_meant(view->spec)) continue;
    if (!run::IsFinal(view->state) || WriterStays(folder)) {
      ++cleaned.going;
      continue;
    }
    if (journal::OutputsAreLeft(folder, *view)) {
      cleaned.kept.push_back({id, WhyOutputsStay(id)});
      continue;
    }
    // A folder that can't be removed does not keep the others from being removed.
    const auto freed = RemoveWorkOf(folder, scope.dry_run);
    if (!freed.ok()) {
      cleaned.kept.push_back({id, freed.error().message});
      continue;
    }
    ++cleaned.folders;
    cleaned.bytes_freed += *freed;
  }
  return cleaned;
}

}  // namespace tenon::engine
