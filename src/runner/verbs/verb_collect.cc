// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_collect.h"

#include "base/file.h"
#include "journal/kept_outputs.h"
#include "journal/writer.h"
#include "run/script_folders.h"
#include "runner/supervise/collect.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/verbs/hosted_runs.h"

namespace tenon::runner {
namespace {

// Removes what was kept only for the outputs. What can't be removed now goes with a later `gc`.
void RemoveWhatWasKept(Executor& executor, const run::RunFolder& folder, const run::RunSpec& spec,
                       const Facts& facts) {
  (void)executor.Release([](const run::Event&) {});
  if (facts.end->state == run::State::kCompleted && !spec.keep) {
    (void)run::RemoveWork(folder).ok();
  }
}

}  // namespace

Result<run::Collected> CollectLeft(const RunName& run) {
  const run::RunFolder folder = run.Folder();
  const std::string segment = folder.host_segment();
  if (!Exists(segment)) return NotFound("run " + run.run_id + " has not started here");
  TENON_TRY(const run::RunSpec spec, ReadSpec(folder.spec()));
  // Locks the segment before reading it: of two processes that collect, the second finds the work
  // done.
  journal::Writer::Options options;
  options.path = segment;
  options.run_key = spec.key;
  options.segment = run::kHostSegment;
  TENON_TRY(journal::Writer writer, journal::Writer::Open(options));
  TENON_TRY(const Facts facts, ReadFacts(segment));
  if (!facts.end) return Invalid("run " + run.run_id + " has not ended");
  if (!journal::OutputsAreLeft(folder, FoldSegment(segment, run::kHostSegment))) {
    return run::Collected{false, 0};
  }
  const KnownSecrets secrets = SecretsOf(folder, spec);
  SafeNames names(secrets);
  Recorder recorder(std::move(writer), ValuesOf(secrets.values), folder.runner_log());
  TENON_TRY(const auto executor,
            MakeExecutor({run, spec, CurrentEnvironment(), {}, {}, {}}, facts));
  if (auto kept = executor->FetchOutputs(recorder)) return std::move(kept->why);
  TENON_TRY(const uint64_t left, TryCollectOutputs(run, recorder, names, /*even_none=*/true));
  TellWithheld(run, names, recorder);
  TENON_TRY_VOID(recorder.writer().Sync());
  if (left == 0) RemoveWhatWasKept(*executor, folder, spec, facts);
  return run::Collected{true, left};
}

}  // namespace tenon::runner
