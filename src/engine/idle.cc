// SPDX-License-Identifier: Apache-2.0
#include "engine/idle.h"

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/reach.h"

namespace tenon::engine {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr size_t kMostOfLog = 2u << 20;
constexpr size_t kMostOfOrders = 1u << 20;

// The last lines of the watcher's log.
std::string LastNote(const Place& place) {
  const std::string path = JoinPath(place.home.root(), "idle.log");
  std::string text;
  for (;;) {
    const auto piece = place.host->ReadFrom(path, text.size(), kMostOfLog);
    if (!piece.ok() || piece->empty() || text.size() > kMostOfLog) break;
    text += *piece;
  }
  std::string_view rest = Trim(text);
  const size_t begin = rest.rfind('\n');
  return std::string(begin == std::string_view::npos ? rest : rest.substr(begin + 1));
}

IdleState StateOf(const Place& place, const run::WatchIdleAnswer& answer) {
  IdleState state;
  state.watching = answer.watching;
  state.idle_since_us = answer.idle_since_us;
  state.busy = answer.busy;
  state.last = LastNote(place);
  if (!state.watching) return state;
  const auto text =
      place.host->ReadFrom(JoinPath(place.home.root(), "idle.json"), 0, kMostOfOrders);
  if (!text.ok()) return state;
  const auto orders = json::Parse(*text);
  if (!orders.ok() || !orders->is_object()) return state;
  state.after_us = json::GetInt(orders->get_object(), "after_us");
  state.command = json::DecodeBytes(json::GetString(orders->get_object(), "command"));
  return state;
}

// Whether there may be a watcher to be ended later. One that is not written down stays.
void NoteGiven(Context& context, const Place& place, bool given) {
  HostRecord& host = place.far->record;
  if (host.idle_watch_given == given) return;
  host.idle_watch_given = given;
  (void)UpdateHost(context.home, host.id, [&](HostRecord& record) {
    record.idle_watch_given = given;
  }).ok();
}

// The one watcher, as the record has it.
Result<run::WatchIdleAnswer> Start(Context& context, const Place& place) {
  const HostRecord& host = place.far->record;
  NoteGiven(context, place, true);
  return place.services->WatchIdle({host.idle_after_us, host.idle_command, false});
}

Result<run::WatchIdleAnswer> Stop(Context& context, const Place& place) {
  run::WatchIdleRequest request;
  request.stop = true;
  TENON_TRY(const auto answer, place.services->WatchIdle(request));
  NoteGiven(context, place, answer.watching);
  return answer;
}

}  // namespace

std::string ShortDuration(int64_t us) {
  const int64_t seconds = (us + kSecondUs - 1) / kSecondUs;
  if (seconds >= 3600 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + " h";
  if (seconds >= 60 && seconds % 60 == 0) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds) + " s";
}

Status WatchIdleIfAsked(Context& context, const Place& place) {
  if (place.far == nullptr) return {};
  const HostRecord& host = place.far->record;
  const bool wanted = host.idle_after_us > 0 && !host.idle_command.empty();
  if (!wanted && !host.idle_watch_given) return {};
  auto asked = wanted ? Start(context, place) : Stop(context, place);
  if (!asked.ok()) {
    return std::move(asked).error().Wrap("asking " + host.target + " to " +
                                         (wanted ? "watch for idle time" : "end its idle watcher"));
  }
  return {};
}

Result<IdleState> StartIdleWatch(Context& context, const Place& place) {
  TENON_TRY(const auto answer, Start(context, place));
  return StateOf(place, answer);
}

Result<IdleState> StopIdleWatch(Context& context, const Place& place) {
  TENON_TRY(const auto answer, Stop(context, place));
  return StateOf(place, answer);
}

Result<IdleState> LookAtIdleWatch(const Place& place) {
  run::WatchIdleRequest request;
  request.look = true;
  TENON_TRY(const auto answer, place.services->WatchIdle(request));
  return StateOf(place, answer);
}

Result<std::vector<std::string>> LookForRuns(const Place& place) {
  run::WatchIdleRequest request;
  request.look = request.runs_only = true;
  TENON_TRY(auto answer, place.services->WatchIdle(request));
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
