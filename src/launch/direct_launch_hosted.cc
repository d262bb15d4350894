// SPDX-License-Identifier: Apache-2.0
// What a launch asks about the machine itself: `probe`, `hosted`, `watch-idle`.
#include "launch/direct_launch.h"
#include "run/members.h"
#include "run/verbs.h"

namespace tenon::launch {
namespace {

// A login shell may take its ten seconds, an engine and a GPU tool theirs.
constexpr int kProbeTimeoutMs = 90'000;
constexpr int kWatchTimeoutMs = 60'000;
// Adding up the sizes of millions of files takes as long as it takes.
constexpr int kNoTimeout = 0;

Result<HostedRun> RunOf(const json::Value& value) {
  TENON_EXPECT_PEER(value.is_object(), "the runner's answer has a run that is none");
  run::Members in(value.get_object());
  HostedRun run;
  in.Read("run_id", run.run_id);
  in.Read("project", run.project);
  in.Read("target", run.target);
  in.Read("script", run.script);
  in.Read("state", run.state);
  in.Read("reason", run.reason);
  in.Read("created_us", run.created_us);
  in.Read("ended_us", run.ended_us);
  in.Read("bytes", run.bytes);
  in.Read("work_bytes", run.work_bytes);
  in.Read("alive", run.alive);
  in.Read("outputs_left", run.outputs_left);
  TENON_TRY_VOID(in.status());
  return run;
}

}  // namespace

Result<json::Object> DirectLaunch::Probe() {
  return Ask(run::kVerbProbe, NewRequest(), kProbeTimeoutMs);
}

Result<HostedAnswer> DirectLaunch::Hosted(const HostedRequest& request) {
  json::Object object = NewRequest();
  object["remove"] = run::ToJsonTexts(request.remove);
  object["clean"] = request.clean;
  object["keep_us"] = request.keep_us;
  object["dry_run"] = request.dry_run;
  if (request.only) object["only"] = run::ToJsonTexts(*request.only);
  object["force"] = request.force;
  object["look"] = request.look;
  TENON_TRY(const json::Object told, Ask(run::kVerbHosted, object, kNoTimeout));
  HostedAnswer answer;
  run::Members in(told);
  const json::Array* runs = in.ReadArray("runs");
  for (const json::Value& value : runs ? *runs : json::Array()) {
    TENON_TRY(HostedRun run, RunOf(value));
    answer.runs.push_back(std::move(run));
  }
  in.Read("environments_bytes", answer.environments_bytes);
  in.Read("objects_bytes", answer.objects_bytes);
  in.Read("cache_bytes", answer.cache_bytes);
  in.Read("data_bytes", answer.data_bytes);
  in.Read("other_bytes", answer.other_bytes);
  in.Read("disk_free_bytes", answer.disk_free_bytes);
  in.Read("last_run_us", answer.last_run_us);
  in.Read("idle_since_us", answer.idle_since_us);
  in.Read("busy", answer.busy);
  in.Read("removed", answer.removed);
  in.Read("bytes_freed", answer.bytes_freed);
  TENON_TRY(answer.kept, KeptOf(told));
  TENON_TRY_VOID(in.status());
  return answer;
}

Result<WatchIdleAnswer> DirectLaunch::WatchIdle(const WatchIdleRequest& request) {
  json::Object object = NewRequest();
  object["after_us"] = request.after_us;
  object["command"] = json::EncodeBytes(request.command);
  object["stop"] = request.stop;
  object["look"] = request.look;
  object["runs_only"] = request.runs_only;
  TENON_TRY(const json::Object told, Ask(run::kVerbWatchIdle, object, kWatchTimeoutMs));
  WatchIdleAnswer answer;
  run::Members in(told);
  in.Read("watching", answer.watching);
  in.Read("idle_since_us", answer.idle_since_us);
  in.Read("busy", answer.busy);
  TENON_TRY_VOID(in.status());
  return answer;
}

}  // namespace tenon::launch
