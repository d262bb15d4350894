// SPDX-License-Identifier: Apache-2.0
#include "launch/direct_launch.h"

#include <utility>

#include "base/waiting.h"
#include "run/described.h"
#include "run/members.h"
#include "run/verbs.h"
#include "transport/agent.h"

namespace tenon::launch {
namespace {

// A start takes milliseconds, but a disk under load may delay the first record for long.
constexpr int kStartTimeoutMs = 120'000;
// Cancel and recover may have to end processes and collect gigabytes of outputs first.
constexpr int kNoTimeout = 0;

}  // namespace

Result<json::Object> DirectLaunch::AskStart(const StartRequest& request, json::Object object) {
  transport::FrameLink* link = calls_.host().frames();
  if (link == nullptr || request.tree.store == nullptr) {
    return calls_.Ask(run::kVerbStart, std::move(object), kStartTimeoutMs);
  }
  TENON_TRY(std::string path, calls_.EnsureRunner());
  calls_.Address(&object);
  TENON_TRY(const Frame answer,
            SendTree(*link, calls_.home(), request.tree,
                     transport::RunRequest({path, run::kVerbStart}, kStartTimeoutMs),
                     json::Print(object)));
  return calls_.AnswerOf(transport::ToCaptureResult(answer), path, run::kVerbStart);
}

Result<Started> DirectLaunch::Start(const StartRequest& request) {
  json::Object object = ForRun(request.spec.id);
  object["version"] = request.version;
  object["spec"] = request.spec.ToJson();
  object["environment"] = run::ToJsonMap(request.environment);
  object["secrets"] = run::ToJsonMap(request.secrets);
  if (!request.retry_of.empty()) object["retry_of"] = json::EncodeBytes(request.retry_of);
  TENON_TRY(json::Object answer, AskStart(request, std::move(object)));
  const json::Object* runner = json::GetObject(answer, "runner");
  TENON_EXPECT_PEER(runner != nullptr, "the runner's answer to start names no process");
  run::RunnerStarted started;
  started.process.pid = static_cast<pid_t>(json::GetInt(*runner, "pid"));
  started.process.start_ticks = static_cast<uint64_t>(json::GetInt(*runner, "start_ticks"));
  started.process.boot_id = json::GetString(*runner, "boot_id");
  started.host = json::GetString(answer, "host");
  started.version = json::GetString(answer, "version");
  started.protocol = static_cast<int>(json::GetInt(answer, "protocol", run::kProtocol));
  TENON_EXPECT_PEER(started.process.pid > 0, "the runner's answer to start names no process");
  return Started{std::move(started), {}};
}

Result<run::State> DirectLaunch::Cancel(const run::CancelRequest& request,
                                        const run::LaunchHandle& /*handle*/) {
  TENON_TRY(const auto answer, calls_.AskFor<run::CancelAnswer>(
                                   run::kVerbCancel, run::ToJsonObject(request), kNoTimeout));
  if (answer.unheard > 0) {
    TellWait("the runner of " + request.run_id + " (process " + std::to_string(answer.unheard) +
             " on " + calls_.host().Describe() +
             ") is busy and has not taken the request yet; waiting for it");
  }
  return answer.state;
}

Result<run::Recovered> DirectLaunch::Recover(const std::string& run_id,
                                             const run::LaunchHandle& /*handle*/) {
  return calls_.AskFor<run::Recovered>(run::kVerbRecover, ForRun(run_id), kNoTimeout);
}

}  // namespace tenon::launch
