// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/rank.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "run/env_vars.h"
#include "run/members.h"
#include "run/segment.h"
#include "runner/supervise/record_script.h"
#include "runner/supervise/script_run.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;
constexpr std::string_view kPrefix = "rank-";
// Set by torchrun and similar launchers; Open MPI; launchers that use PMIx; MPICH, Intel MPI and
// Slurm.
constexpr const char* kNumbers[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

Result<int> Rank(const std::vector<std::string>& words) {
  if (words.size() < 3 || words[1] != "--") {
    return Invalid("usage: tenon-runner rank -- PROGRAM [ARGUMENT...]");
  }
  // Keeps the script from looking at our descriptors and memory.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(SIGPIPE, SIG_IGN);
  Environment environment = CurrentEnvironment();
  const auto number = RankNumber(environment);
  if (!number) {
    return Invalid(
        "no launcher has told this process its rank: none of RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK "
        "and PMI_RANK is a number");
  }
  const std::string door = GetVariable(environment, run::env::kRankDoor);
  if (door.empty()) return Invalid("this process is not of a run that has ranks");
  const std::string name = std::string(kPrefix) + std::to_string(*number);
  auto taken = executor::TakeNamed(door, name);
  if (!taken.ok()) return std::move(taken).error().Wrap(name);
  TENON_TRY(RankJob job, RankJob::FromText(taken->job));
  taken->job.assign(taken->job.size(), '\0');
  ScriptOfOurs script;
  script.run_key = std::move(job.run_key);
  script.segment = name;
  script.part = executor::Part::kOneOfMany;
  script.secrets = std::move(job.secrets);
  script.metrics = JoinPath(job.metrics, name);
  script.leftover_grace_us = job.leftover_grace_us;
  environment.erase(run::env::kRankDoor);
  environment[run::env::kMetricsDir] = script.metrics;
  script.find = [&](Recorder&) -> Result<executor::ProcessRequest> {
    TENON_TRY_VOID(MakeDirs(script.metrics, 0700));
    executor::ProcessRequest request;
    request.argv.assign(words.begin() + 2, words.end());
    request.env = environment;
    return request;
  };
  return RecordScript(std::move(taken->segment), script);
}

}  // namespace

std::string RankJob::ToText() const {
  json::Object o;
  o["run_key"] = run_key;
  o["metrics"] = run::ToJsonText(metrics);
  o["secrets"] = run::ToJsonTexts(secrets);
  o["leftover_grace_us"] = leftover_grace_us;
  return json::Print(o);
}

Result<RankJob> RankJob::FromText(std::string_view text) {
  TENON_TRY(json::Value value, json::Parse(text));
  TENON_EXPECT_PEER(value.is_object(), "what a rank is told is no JSON object");
  RankJob job;
  run::Members in(value.get_object());
  in.Read("run_key", job.run_key);
  in.Read("metrics", job.metrics);
  in.Read("secrets", job.secrets);
  in.Read("leftover_grace_us", job.leftover_grace_us);
  if (job.run_key.empty()) in.FailMissing("run_key");
  TENON_TRY_VOID(in.status());
  return job;
}

std::optional<int> RankNumber(const Environment& environment) {
  for (const char* name : kNumbers) {
    const std::string text = GetVariable(environment, name);
    if (text.empty()) continue;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    if (number >= static_cast<int>(run::kMostFarSegments)) return std::nullopt;
    return number;
  }
  return std::nullopt;
}

Result<RankDoor> RankDoor::Open(const StartRequest& request, const std::string& folder) {
  TENON_TRY(executor::SegmentDoor door, executor::SegmentDoor::Open(folder));
  RankJob job;
  job.run_key = request.spec.key;
  job.metrics = request.run.Folder().metrics();
  job.secrets = request.SecretValues();
  job.leftover_grace_us = std::min(request.spec.grace_us, kLeftoverGraceUs);
  return RankDoor(std::move(door), request.run.Folder(), std::move(job));
}

void RankDoor::Serve() {
  door_.Serve([this](const std::string& name) -> Result<executor::SegmentDoor::Given> {
    const std::string segment = folder_.segment(name);
    if (run::KindOfSegment(name) != run::SegmentKind::kRank) return Invalid("not a rank");
    if (Exists(segment)) return Denied("somebody has it already");
    return executor::SegmentDoor::Given{segment, job_.ToText()};
  });
}

int RunRank(const std::vector<std::string>& words) {
  auto code = Rank(words);
  if (code.ok()) return *code;
  (void)WriteAll(STDERR_FILENO, "error: " + ForTerminal(code.error().message) + "\n").ok();
  return kNotStartedCode;
}

}  // namespace tenon::runner
