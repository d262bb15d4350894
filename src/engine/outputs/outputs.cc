// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/outputs.h"

#include "base/text.h"
#include "engine/run/runs.h"
#include "journal/kept_outputs.h"

namespace tenon::engine {

bool HasOutputsLeft(const Context& context, const journal::RunView& run) {
  if (!run::IsFinal(run.state) || !run.end || run.end->never_started) return false;
  if (run.spec.IsElsewhere()) return run.outputs_left;
  return journal::OutputsAreLeft(run::RunFolder(context.home, run.spec.id), run);
}

Status CollectLeftOutputs(Context& context, const std::string& run_id, Reporter& reporter) {
  // For a run on another machine, this look also collects and fetches what the run has left there.
  TENON_TRY_VOID(RefreshRun(context, run_id, Look::kThere, &reporter));
  TENON_TRY(journal::RunView run, GetRun(context, run_id));
  if (!run::IsFinal(run.state)) {
    return Invalid("the run " + run_id + " is " + std::string(run::StateName(run.state)) +
                   "; its outputs are collected when it ends");
  }
  if (!HasOutputsLeft(context, run)) return {};
  const std::string where = run.reason.empty() ? "" : " (" + ForTerminal(run.reason) + ")";
  if (!run.spec.IsElsewhere()) {
    auto collected = context.services->Collect(run_id);
    if (!collected.ok()) {
      return std::move(collected).error().Wrap("collecting the outputs of " + run_id);
    }
    TENON_TRY_VOID(RefreshRun(context, run_id));
    TENON_TRY(run, GetRun(context, run_id));
  }
  if (!HasOutputsLeft(context, run)) return {};
  return Unavailable("not all outputs of " + run_id + " are collected" + where)
      .WithHint("tenon runs collect " + run_id);
}

}  // namespace tenon::engine
