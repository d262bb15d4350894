// SPDX-License-Identifier: Apache-2.0
// The verb `end-lost`: ends what is left of a run whose folder is gone. All that is known of the
// run is what the client remembers.
#include "base/file.h"
#include "base/text.h"
#include "executor/cgroup.h"
#include "executor/process_tree.h"
#include "run/event.h"
#include "runner/verbs/verb_sweep.h"
#include "runner/verbs/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kEndLimitUs = 10'000'000;

void AddRemark(run::Proof& proof, const std::string& words) {
  proof.remark += (proof.remark.empty() ? "" : "; ") + words;
}

// Removes the run's containers, which nobody needs when its folder is gone. False: an engine could
// not be asked, or a container stays.
bool RemoveContainers(const RunName& run, run::Proof& proof) {
  const auto swept = Sweep(run.home, {{run.run_id}});
  if (!swept.ok()) {
    AddRemark(proof, "its container could not be looked for: " + swept.error().message);
    return false;
  }
  if (!swept->removed.empty()) {
    proof.method = "container";
    proof.ended += static_cast<int64_t>(swept->removed.size());
  }
  for (const run::Kept& one : swept->kept) AddRemark(proof, one.name + ": " + one.why);
  return swept->kept.empty();
}

}  // namespace

Result<run::EndedLost> EndLost(const RunName& run, const run::EndLostRequest& request) {
  if (Exists(run.Folder().host_segment())) {
    return Invalid("run " + run.run_id + " is known here");
  }
  run::Proof proof;
  const std::string boot_id = BootId();
  if (!boot_id.empty() && !request.boot_id.empty() && boot_id != request.boot_id) {
    proof.method = "none";
    proof.remark = "the machine was restarted, so nothing of the run can be left";
    proof.gpu = executor::GpuRemark();
    // An engine may start its containers again after a restart.
    const bool known = !request.container || RemoveContainers(run, proof);
    return run::EndedLost{known, proof};
  }
  executor::TreeQuery query;
  query.run_key = request.key;
  query.cgroup = executor::FindRunCgroup(request.key);
  query.marked = true;  // assumed: the spec.json that would say so is gone
  bool known = executor::ScanTree(query).looked;
  executor::ProcessSet signaled;
  proof = executor::EndTree(query, kEndLimitUs, &signaled);
  if (!query.cgroup.empty()) executor::RemoveCgroup(query.cgroup);
  if (request.container) known = RemoveContainers(run, proof) && known;
  return run::EndedLost{known && proof.left == 0, proof};
}

}  // namespace tenon::runner
