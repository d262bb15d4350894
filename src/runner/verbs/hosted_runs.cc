// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/hosted_runs.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/disk_usage.h"
#include "base/file.h"
#include "base/process.h"
#include "journal/kept_outputs.h"
#include "journal/reader.h"
#include "run/script_folders.h"
#include "runner/supervise/facts.h"

namespace tenon::runner {
namespace {

void AddHash(const std::string& hex, std::vector<Hash>* to) {
  if (auto hash = Hash::FromHex(hex)) to->push_back(*hash);
}

HostedRun LookAtRun(const run::Home& home, const std::string& id) {
  const run::RunFolder folder(home, id);
  HostedRun run;
  run.id = id;
  if (auto spec = ReadSpec(folder.spec()); spec.ok()) run.spec = std::move(*spec);
  run.alive = IsRunAlive(folder);
  const journal::SegmentFold fold = FoldSegment(folder.host_segment(), run::kHostSegment);
  run.state = fold.state.value_or(run::State::kNotStarted);
  run.created_us = fold.first_us;
  run.last_us = std::max(fold.last_us, ModifiedUs(folder.path()));
  if (fold.end) {
    run.over = true;
    run.state = fold.end->state;
    run.reason = fold.end->reason;
    run.ended_us = fold.end_us;
  }
  run.outputs_left = run.over && journal::OutputsAreLeft(folder, fold);
  AddHash(run.spec.tree, &run.trees);
  AddHash(fold.outputs_tree, &run.trees);
  for (const run::Artifact& artifact : fold.artifacts) AddHash(artifact.hash, &run.objects);
  run.work_bytes = DiskBytes(folder.work());
  run.bytes = run::RunBytes(folder);
  return run;
}

}  // namespace

journal::SegmentFold FoldSegment(const std::string& path, std::string_view name) {
  journal::SegmentFold fold;
  auto reader = journal::Reader::Open(path);
  if (!reader.ok()) return fold;
  for (;;) {
    auto record = reader->Next();
    if (!record.ok() || !*record) return fold;
    (void)fold.Apply(**record, name).ok();
  }
}

run::HostedRun HostedRun::Told() const {
  run::HostedRun told;
  told.run_id = id;
  told.project = spec.project;
  told.target = spec.target;
  told.script = spec.script;
  told.state = run::StateName(state);
  told.reason = reason;
  told.created_us = created_us;
  told.ended_us = ended_us;
  told.bytes = bytes;
  told.work_bytes = work_bytes;
  told.alive = alive;
  told.outputs_left = outputs_left;
  return told;
}

bool IsRunAlive(const run::RunFolder& folder) {
  const std::string segment = folder.host_segment();
  if (!Exists(segment)) return false;
  if (IsLockedByOther(segment).value_or(true)) return true;
  // A container outlives its runner, but not a restart of the machine.
  if (!Exists(folder.script_segment())) return false;
  const auto facts = ReadFacts(segment);
  if (!facts.ok() || facts->end || !facts->container) return false;
  return !facts->runner || facts->runner->process.boot_id == BootId();
}

std::vector<std::string> RunIds(const run::Home& home) {
  std::vector<std::string> ids = ListDir(home.runs()).value_or({});
  std::erase_if(ids, [](const std::string& id) { return !run::IsValidRunId(id); });
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<HostedRun> ListHostedRuns(const run::Home& home) {
  std::vector<HostedRun> runs;
  for (const std::string& id : RunIds(home)) runs.push_back(LookAtRun(home, id));
  std::stable_sort(runs.begin(), runs.end(), [](const HostedRun& a, const HostedRun& b) {
    return a.created_us > b.created_us;
  });
  return runs;
}

Activity LookAtActivity(const run::Home& home) {
  Activity activity;
  for (const std::string& id : RunIds(home)) {
    const run::RunFolder folder(home, id);
    activity.alive = activity.alive || IsRunAlive(folder);
    activity.newest_run_us = std::max(activity.newest_run_us, ModifiedUs(folder.spec()));
    activity.last_us = std::max(activity.last_us, ModifiedUs(folder.host_segment()));
  }
  activity.last_us = std::max(activity.last_us, activity.newest_run_us);
  activity.last_us = std::max(activity.last_us, ModifiedUs(home.used()));
  // A client that still sends files is going to use the machine.
  for (const std::string& name : ListDir(home.incoming()).value_or({})) {
    activity.last_us = std::max(activity.last_us, ModifiedUs(JoinPath(home.incoming(), name)));
  }
  return activity;
}

}  // namespace tenon::runner
