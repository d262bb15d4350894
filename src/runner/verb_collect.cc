// SPDX-License-Identifier: Apache-2.0
#include "runner/verb_collect.h"

#include "base/file.h"
#include "docker/engine.h"
#include "journal/kept_outputs.h"
#include "journal/writer.h"
#include "run/script_folders.h"
#include "runner/collect.h"
#include "runner/container_run.h"
#include "runner/facts.h"
#include "runner/hosted_runs.h"
#include "runner/kept_secrets.h"
#include "runner/recorder.h"

namespace tenon::runner {
namespace {

// The whole of what is inside takes the place of what an earlier try has brought.
Status TakeFromContainer(const run::ContainerMade& container, const run::RunFolder& folder,
                         Recorder& recorder) {
  TENON_TRY(docker::Engine engine, docker::Engine::Connect(container.socket));
  TENON_TRY(const auto found, engine.Find(container.id));
  if (!found) return {};
  TENON_TRY_VOID(RemoveTree(folder.outputs()));
  // A folder that is not there would be taken for a script that has left none.
  TENON_TRY_VOID(MakeDirs(folder.outputs()));
  return CopyOutputs(container, folder, recorder);
}

// Kept for the outputs' sake alone. What can't be removed now goes with a later `gc`.
void RemoveWhatWasKept(const run::RunFolder& folder, const run::RunSpec& spec, const Facts& facts) {
  const bool inside = facts.container && !spec.container.shared_volumes;
  const bool kept_on_purpose = spec.keep_on_fail && facts.end->state != run::State::kCompleted;
  if (inside && !kept_on_purpose) {
    auto engine = docker::Engine::Connect(facts.container->socket);
    if (engine.ok() && engine->Remove(facts.container->id).ok()) {
      (void)RemoveFile(folder.engine_mark()).ok();
    }
  }
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
  // Held before it is read: of two who collect, the second finds it done.
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
  if (facts.container && !spec.container.shared_volumes) {
    TENON_TRY_VOID(TakeFromContainer(*facts.container, folder, recorder));
  }
  TENON_TRY(const uint64_t left, TryCollectOutputs(run, recorder, names, /*even_none=*/true));
  TellWithheld(run, names, recorder);
  TENON_TRY_VOID(recorder.writer().Sync());
  if (left == 0) RemoveWhatWasKept(folder, spec, facts);
  return run::Collected{true, left};
}

}  // namespace tenon::runner
