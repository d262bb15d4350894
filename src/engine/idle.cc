// SPDX-License-Identifier: Apache-2.0
#include "engine/idle.h"

#include "base/file.h"
#include "base/text.h"
#include "engine/reach.h"

namespace tenon::engine {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr size_t kMostOfLog = 2u << 20;

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

}  // namespace

std::string ShortDuration(int64_t us) {
  const int64_t seconds = (us + kSecondUs - 1) / kSecondUs;
  if (seconds >= 3600 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + " h";
  if (seconds >= 60 && seconds % 60 == 0) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds) + " s";
}

Status WatchIdleIfAsked(Context& /*context*/, const Place& place) {
  if (place.far == nullptr) return {};
  const HostRecord& host = place.far->record;
  if (host.idle_after_us <= 0 || host.idle_command.empty()) return {};
  auto asked = place.launch->WatchIdle({host.idle_after_us, host.idle_command, false});
  if (!asked.ok()) {
    return std::move(asked).error().Wrap("asking " + host.target + " to watch for idle time");
  }
  return {};
}

Result<IdleState> StartIdleWatch(const Place& place) {
  const HostRecord& host = place.far->record;
  TENON_TRY(const auto answer,
            place.launch->WatchIdle({host.idle_after_us, host.idle_command, false}));
  return IdleState{answer.watching, answer.idle_since_us, LastNote(place)};
}

Result<IdleState> StopIdleWatch(const Place& place) {
  launch::WatchIdleRequest request;
  request.stop = true;
  TENON_TRY(const auto answer, place.launch->WatchIdle(request));
  return IdleState{answer.watching, answer.idle_since_us, LastNote(place)};
}

Result<IdleState> LookAtIdleWatch(const Place& place) {
  auto locked = place.host->IsLocked(JoinPath(place.home.root(), "idle.lock"));
  if (!locked.ok() && locked.error().kind != ErrorKind::kNotFound) return std::move(locked).error();
  return IdleState{locked.ok() && *locked, 0, LastNote(place)};
}

std::string IdleWords(const HostRecord& host) {
  const std::string name = ForTerminal(host.target);
  if (host.idle_after_us <= 0 || host.idle_command.empty()) {
    return name + " is still on (idle since now; nothing turns it off)";
  }
  return name + " is still on; it will run `" + ForTerminal(host.idle_command) + "` after " +
         ShortDuration(host.idle_after_us) + " idle";
}

}  // namespace tenon::engine
