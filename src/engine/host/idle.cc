// SPDX-License-Identifier: Apache-2.0
#include "engine/host/idle.h"

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/host/machine.h"

namespace tenon::engine {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr size_t kMostOfLog = 2u << 20;
constexpr size_t kMostOfOrders = 1u << 20;

// The last line of the watcher's log.
std::string LastNote(Machine& machine) {
  const std::string path = JoinPath(machine.home().root(), "idle.log");
  std::string text;
  for (;;) {
    const auto piece = machine.host().ReadFrom(path, text.size(), kMostOfLog);
    if (!piece.ok() || piece->empty() || text.size() > kMostOfLog) break;
    text += *piece;
  }
  std::string_view rest = Trim(text);
  const size_t begin = rest.rfind('\n');
  return std::string(begin == std::string_view::npos ? rest : rest.substr(begin + 1));
}

IdleState StateOf(Machine& machine, const run::WatchIdleAnswer& answer) {
  IdleState state;
  state.watching = answer.watching;
  state.idle_since_us = answer.idle_since_us;
  state.busy = answer.busy;
  state.last = LastNote(machine);
  if (!state.watching) return state;
  const auto text =
      machine.host().ReadFrom(JoinPath(machine.home().root(), "idle.json"), 0, kMostOfOrders);
  if (!text.ok()) return state;
  const auto orders = json::Parse(*text);
  if (!orders.ok() || !orders->is_object()) return state;
  state.after_us = json::GetInt(orders->get_object(), "after_us");
  state.command = json::DecodeBytes(json::GetString(orders->get_object(), "command"));
  return state;
}

// Notes whether a watcher may have to be ended later. If this can't be written, a later change of
// the target does not end the watcher.
void NoteGiven(Machine& machine, bool given) {
  if (machine.known().idle_watch_given == given) return;
  (void)machine.Remember([&](HostRecord& host) { host.idle_watch_given = given; }).ok();
}

// Starts the watcher with the orders in the machine's record.
Result<run::WatchIdleAnswer> Start(Machine& machine) {
  const HostRecord& host = machine.known();
  NoteGiven(machine, true);
  return machine.services().WatchIdle({host.idle_after_us, host.idle_command, false});
}

Result<run::WatchIdleAnswer> Stop(Machine& machine) {
  run::WatchIdleRequest request;
  request.stop = true;
  TENON_TRY(const auto answer, machine.services().WatchIdle(request));
  NoteGiven(machine, answer.watching);
  return answer;
}

}  // namespace

std::string ShortDuration(int64_t us) {
  const int64_t seconds = (us + kSecondUs - 1) / kSecondUs;
  if (seconds >= 3600 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + " h";
  if (seconds >= 60 && seconds % 60 == 0) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds) + " s";
}

Status WatchIdleIfAsked(Machine& machine) {
  const HostRecord& host = machine.known();
  const bool wanted = host.idle_after_us > 0 && !host.idle_command.empty();
  if (!wanted && !host.idle_watch_given) return {};
  auto asked = wanted ? Start(machine) : Stop(machine);
  if (!asked.ok()) {
    return std::move(asked).error().Wrap("asking " + host.target + " to " +
                                         (wanted ? "watch for idle time" : "end its idle watcher"));
  }
  return {};
}

Result<IdleState> StartIdleWatch(Machine& machine) {
  TENON_TRY(const auto answer, Start(machine));
  return StateOf(machine, answer);
}

Result<IdleState> StopIdleWatch(Machine& machine) {
  TENON_TRY(const auto answer, Stop(machine));
  return StateOf(machine, answer);
}

Result<IdleState> LookAtIdleWatch(Machine& machine) {
  run::WatchIdleRequest request;
  request.look = true;
  TENON_TRY(const auto answer, machine.services().WatchIdle(request));
  return StateOf(machine, answer);
}

Result<std::vector<std::string>> LookForRuns(Machine& machine) {
  run::WatchIdleRequest request;
  request.look = request.runs_only = true;
  TENON_TRY(auto answer, machine.services().WatchIdle(request));
  return std::move(answer.busy);
}

std::string IdleWords(const HostRecord& host, const std::vector<std::string>& busy) {
  std::string words = OneLine(host.target) + " is still on";
  if (!busy.empty()) {
    words += ": " + OneLine(busy.front());
    if (busy.size() > 1) words += " and " + std::to_string(busy.size() - 1) + " more";
  }
  if (host.idle_after_us <= 0 || host.idle_command.empty()) return words + "; nothing turns it off";
  return words + "; it will run `" + OneLine(host.idle_command) + "` after " +
         ShortDuration(host.idle_after_us) + " idle";
}

}  // namespace tenon::engine
