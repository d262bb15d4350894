// SPDX-License-Identifier: Apache-2.0
// The verb `end-lost`: ends what is left of a run whose folder is gone. All that is known of the
// run is what the client remembers.
#include "base/file.h"
#include "base/text.h"
#include "executor/cgroup.h"
#include "executor/process_tree.h"
#include "run/event.h"
#include "runner/verb_sweep.h"
#include "runner/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kEndLimitUs = 10'000'000;

json::Object Answer(const run::Proof& proof, bool known) {
  run::End end;
  end.proof = proof;
  json::Object answer = run::EventToJson(end);
  return json::Object{{"known", known}, {"proof", std::move(answer["proof"])}};
}

void AddRemark(run::Proof& proof, const std::string& words) {
  proof.remark += (proof.remark.empty() ? "" : "; ") + words;
}

// Containers of runs whose folder is gone are nobody's. False: some engine could not be asked.
bool RemoveContainers(const EndLostRequest& request, run::Proof& proof) {
  auto swept = Sweep({request.run.home, {request.run.run_id}});
  if (!swept.ok()) {
    AddRemark(proof, "its container could not be looked for: " + swept.error().message);
    return false;
  }
  const json::Array* removed = json::GetArray(*swept, "removed");
  if (removed != nullptr && !removed->empty()) {
    proof.method = "container";
    proof.ended += static_cast<int64_t>(removed->size());
  }
  const json::Array* kept = json::GetArray(*swept, "kept");
  if (kept == nullptr || kept->empty()) return true;
  for (const json::Value& one : *kept) {
    if (!one.is_object()) continue;
    AddRemark(proof, json::DecodeBytes(json::GetString(one.get_object(), "name")) + ": " +
                         json::DecodeBytes(json::GetString(one.get_object(), "why")));
  }
  return false;
}

}  // namespace

Result<json::Object> EndLost(const EndLostRequest& request) {
  if (Exists(request.run.Folder().host_segment())) {
    return Invalid("run " + request.run.run_id + " is known here");
  }
  run::Proof proof;
  const std::string boot_id = BootId();
  if (!boot_id.empty() && !request.boot_id.empty() && boot_id != request.boot_id) {
    proof.method = "none";
    proof.remark = "the machine was restarted, so nothing of the run can be left";
    proof.gpu = executor::GpuRemark();
    // An engine may start its containers again after a restart.
    return Answer(proof, !request.container || RemoveContainers(request, proof));
  }
  executor::TreeQuery query;
  query.run_key = request.key;
  query.cgroup = executor::FindRunCgroup(request.key);
  query.marked = true;  // it says so in the folder that is gone
  bool known = executor::ScanTree(query).looked;
  executor::ProcessSet signaled;
  proof = executor::EndTree(query, kEndLimitUs, &signaled);
  if (!query.cgroup.empty()) executor::RemoveCgroup(query.cgroup);
  if (request.container) known = RemoveContainers(request, proof) && known;
  return Answer(proof, known && proof.left == 0);
}

}  // namespace tenon::runner
