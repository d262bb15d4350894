// SPDX-License-Identifier: Apache-2.0
// The verb `cancel`: leaves the request in the run folder, wakes the supervisor, waits until it is
// recorded.
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/state.h"
#include "runner/facts.h"
#include "runner/verbs.h"

namespace tenon::runner {
namespace {

constexpr int64_t kWaitUs = 5'000'000;
constexpr useconds_t kLookUs = 2'000;

json::Object StateAnswer(run::State state) {
  json::Object answer;
  answer["state"] = run::StateName(state);
  return answer;
}

// Sends the signal only to a process that is certainly the supervisor.
void Wake(const std::string& segment, int signal) {
  auto handle = ReadHandle(segment);
  if (!handle.ok() || !*handle || (*handle)->process.start_ticks == 0) return;
  const ProcessId& process = (*handle)->process;
  auto now = IdentifyProcess(process.pid);
  if (now && *now == process) ::kill(process.pid, signal);
}

Status LeaveRequest(const CancelRequest& request, const std::string& path) {
  json::Object object;
  if (request.grace_us) object["grace_us"] = *request.grace_us;
  object["who"] = json::EncodeBytes(request.who);
  return WriteFileAtomically(path, json::Print(object) + "\n", 0644, Durability::kProcess);
}

}  // namespace

Result<json::Object> Cancel(const CancelRequest& request, const std::string& version) {
  run::RunFolder folder = request.run.Folder();
  std::string segment = folder.host_segment();
  if (!Exists(segment)) return NotFound("run " + request.run.run_id + " has not started here");
  TENON_TRY(bool alive, IsLockedByOther(segment));
  if (!alive) {
    TENON_TRY(json::Object recovered, Recover(request.run, version));
    // A container that goes on has got a new runner, which can be asked.
    TENON_TRY(alive, IsLockedByOther(segment));
    if (!alive) return recovered;
  }
  auto left = LeaveRequest(request, folder.cancel_request());
  if (!left.ok() && left.error().kind != ErrorKind::kUnavailable) return std::move(left).error();
  Wake(segment, left.ok() ? SIGUSR1 : SIGUSR2);
  if (!left.ok()) return StateAnswer(run::State::kCancelRequested);
  int64_t deadline = SystemClock().MonotonicUs() + kWaitUs;
  while (Exists(folder.cancel_request())) {
    TENON_TRY(alive, IsLockedByOther(segment));
    if (!alive) {
      // Over, or killed, before it could look.
      (void)RemoveFile(folder.cancel_request()).ok();
      return Recover(request.run, version);
    }
    if (SystemClock().MonotonicUs() >= deadline) break;  // it will look; nothing is lost
    ::usleep(kLookUs);
  }
  return StateAnswer(run::State::kCancelRequested);
}

}  // namespace tenon::runner
