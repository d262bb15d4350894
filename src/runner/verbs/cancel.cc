// SPDX-License-Identifier: Apache-2.0
// The verb `cancel`: leaves the request in the run folder, wakes the supervisor, and waits until
// the request is recorded. A supervisor that is stopped gets SIGCONT. One that stays stopped is
// killed.
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/waiting.h"
#include "run/state.h"
#include "runner/supervise/facts.h"
#include "runner/verbs/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kWaitUs = 5'000'000;
constexpr useconds_t kLookUs = 2'000;
constexpr int kLooksPerCheck = 50;

run::CancelAnswer AnswerOf(const run::Recovered& recovered) {
  return {recovered.state, 0, recovered.recovered};
}

// The supervisor's process. 0: not known for certain.
pid_t SupervisorOf(const std::string& segment) {
  auto handle = ReadHandle(segment);
  if (!handle.ok() || !*handle || (*handle)->process.start_ticks == 0) return 0;
  const ProcessId& process = (*handle)->process;
  auto now = IdentifyProcess(process.pid);
  return now && *now == process ? process.pid : 0;
}

void Wake(const std::string& segment, int signal) {
  if (const pid_t pid = SupervisorOf(segment); pid > 0) ::kill(pid, signal);
}

// Lets a stopped supervisor go on, so that it carries out the request itself.
void LetGoOn(const std::string& segment) {
  if (const pid_t pid = SupervisorOf(segment); IsStopped(pid)) ::kill(pid, SIGCONT);
}

// Kills a supervisor that stays stopped: a debugger holds it, or somebody stops it again and again.
// Recover() may then end the run. False: the supervisor is not stopped.
bool EndStopped(const std::string& segment) {
  const pid_t pid = SupervisorOf(segment);
  if (!IsStopped(pid)) return false;
  ::kill(pid, SIGKILL);
  const int64_t deadline = SystemClock().MonotonicUs() + kWaitUs;
  while (IsLockedByOther(segment).value_or(false) && SystemClock().MonotonicUs() < deadline) {
    ::usleep(kLookUs);
  }
  return true;
}

Status LeaveRequest(const run::CancelRequest& request, const std::string& path) {
  json::Object object;
  if (request.grace_us) object["grace_us"] = *request.grace_us;
  object["who"] = json::EncodeBytes(request.who);
  return WriteFileAtomically(path, json::Print(object) + "\n", 0600, Durability::kProcess);
}

// `again`: this process has already killed a stopped supervisor.
Result<run::CancelAnswer> CancelIt(const RunName& run, const run::CancelRequest& request,
                                   const std::string& version, bool again) {
  run::RunFolder folder = run.Folder();
  std::string segment = folder.host_segment();
  if (!Exists(segment)) return NotFound("run " + run.run_id + " has not started here");
  TENON_TRY(bool alive, IsLockedByOther(segment));
  if (!alive) {
    TENON_TRY(const run::Recovered recovered, Recover(run, version));
    // If a container goes on, Recover() has started a new runner for it, which can be asked.
    TENON_TRY(alive, IsLockedByOther(segment));
    if (!alive) return AnswerOf(recovered);
  }
  auto left = LeaveRequest(request, folder.cancel_request());
  if (!left.ok() && left.error().kind != ErrorKind::kUnavailable) return std::move(left).error();
  Wake(segment, left.ok() ? SIGUSR1 : SIGUSR2);
  if (!left.ok()) {
    LetGoOn(segment);
    return run::CancelAnswer{run::State::kCancelRequested, 0, {}};
  }
  int64_t deadline = SystemClock().MonotonicUs() + kWaitUs;
  int looks = 0;
  while (Exists(folder.cancel_request())) {
    TENON_TRY(alive, IsLockedByOther(segment));
    if (!alive) {
      // The run ended, or its supervisor was killed, before the supervisor read the request.
      (void)RemoveFile(folder.cancel_request()).ok();
      TENON_TRY(const run::Recovered recovered, Recover(run, version));
      return AnswerOf(recovered);
    }
    if (looks++ % kLooksPerCheck == 0) LetGoOn(segment);
    if (SystemClock().MonotonicUs() >= deadline) {
      if (!again && EndStopped(segment)) return CancelIt(run, request, version, /*again=*/true);
      break;  // the supervisor reads the request later; nothing is lost
    }
    ::usleep(kLookUs);
  }
  run::CancelAnswer answer{run::State::kCancelRequested, 0, {}};
  if (Exists(folder.cancel_request())) answer.unheard = SupervisorOf(segment);
  return answer;
}

}  // namespace

std::optional<LeftRequest> ReadCancelRequest(const std::string& path) {
  auto text = ReadFile(path, 65536);
  if (!text.ok()) return std::nullopt;
  json::Object object;
  if (auto value = json::Parse(*text); value.ok() && value->is_object()) {
    object = value->get_object();
  }
  LeftRequest left;
  if (int64_t grace = json::GetInt(object, "grace_us", -1); grace >= 0) left.grace_us = grace;
  const std::string who = json::DecodeBytes(json::GetString(object, "who"));
  left.reason = who.empty() ? "canceled" : "canceled by " + who;
  return left;
}

Result<run::CancelAnswer> Cancel(const RunName& run, const run::CancelRequest& request,
                                 const std::string& version) {
  return CancelIt(run, request, version, /*again=*/false);
}

}  // namespace tenon::runner
