// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_watch_idle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "run/layout.h"
#include "runner/verbs/detach.h"
#include "runner/verbs/hosted_runs.h"
#include "runner/verbs/machine_use.h"

namespace tenon::runner {
namespace {

constexpr int64_t kShortestLookUs = 200'000, kLongestLookUs = 15'000'000;
constexpr useconds_t kPauseUs = 20'000;
constexpr int kStartTries = 500;
constexpr int kCommandMs = 600'000;
constexpr size_t kWordsKept = 4096;
constexpr uint64_t kLongestLog = 1u << 20;

struct Orders {
  int64_t after_us = 0;
  std::string command;
  int64_t given_us = 0;
};

std::string OrdersPath(const std::string& home) { return JoinPath(home, "idle.json"); }
std::string LockPath(const std::string& home) { return JoinPath(home, "idle.lock"); }

// nullopt: nobody wants a watcher.
std::optional<Orders> ReadOrders(const std::string& home) {
  auto text = ReadFile(OrdersPath(home));
  if (!text.ok()) return std::nullopt;
  auto value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  const json::Object& object = value->get_object();
  return Orders{json::GetInt(object, "after_us"),
                json::DecodeBytes(json::GetString(object, "command")),
                json::GetInt(object, "given_us")};
}

bool IsWatched(const std::string& home) { return IsLockedByOther(LockPath(home)).value_or(false); }

void Log(const std::string& home, const std::string& line) {
  const std::string path = JoinPath(home, "idle.log");
  auto file = OpenFile(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (!file.ok()) return;
  if (::lseek(file->get(), 0, SEEK_END) > static_cast<off_t>(kLongestLog)) {
    (void)!::ftruncate(file->get(), 0);
  }
  (void)WriteAll(file->get(), FormatUtc(SystemClock().NowUs()) + " " + line + "\n").ok();
}

void RunCommand(const std::string& home, const Orders& orders) {
  Log(home, "idle for " + HumanDuration(orders.after_us) + ": " + ForTerminal(orders.command));
  // Commands that stop a machine lie in folders for root, which are not on every user's PATH.
  const std::string path =
      GetVariable(CurrentEnvironment(), "PATH", "/usr/local/bin:/usr/bin:/bin");
  ::setenv("PATH", (path + ":/usr/local/sbin:/usr/sbin:/sbin").c_str(), 1);
  auto ran = RunAndCapture({"/bin/sh", "-c", orders.command}, "", "", kCommandMs, 1u << 20);
  if (!ran.ok()) return Log(home, "it could not be started: " + ran.error().message);
  std::string words = ran->out + ran->err;
  if (words.size() > kWordsKept) words.erase(0, words.size() - kWordsKept);
  std::string how = ran->timed_out ? "it did not end in ten minutes"
                                   : "exit code " + std::to_string(ran->status.AsShell());
  if (const std::string_view said = Trim(words); !said.empty()) how += ": " + ForTerminal(said);
  Log(home, how);
}

// One text for each run of the home that goes on.
std::vector<std::string> RunsGoingOn(const std::string& home) {
  std::vector<std::string> said;
  for (const std::string& id : RunIds(run::Home(home))) {
    if (IsRunAlive(run::RunFolder(run::Home(home), id)))
      said.push_back("the run " + id + " goes on");
  }
  return said;
}

run::WatchIdleAnswer Tell(const std::string& home, bool runs_only) {
  run::WatchIdleAnswer answer;
  answer.busy = RunsGoingOn(home);
  if (!runs_only) {
    for (std::string& one : LookForUse(home, /*all=*/true)) answer.busy.push_back(std::move(one));
  }
  answer.watching = IsWatched(home);
  if (answer.busy.empty()) answer.idle_since_us = LookAtActivity(run::Home(home)).last_us;
  return answer;
}

}  // namespace

void WatchUntilIdle(const std::string& home) {
  auto lock = FileLock::Take(LockPath(home), /*wait=*/false);
  if (!lock.ok()) return;
  int64_t idle_since = SystemClock().MonotonicUs();
  int64_t seen_us = 0;
  for (;;) {
    const auto orders = ReadOrders(home);
    if (!orders) return;
    const Activity activity = LookAtActivity(run::Home(home));
    const int64_t now = SystemClock().MonotonicUs();
    const int64_t newest = std::max(activity.last_us, orders->given_us);
    if (activity.alive || newest != seen_us || !LookForUse(home, /*all=*/false).empty()) {
      idle_since = now;
    }
    seen_us = newest;
    if (now - idle_since >= orders->after_us) {
      RunCommand(home, *orders);
      (void)RemoveFile(OrdersPath(home)).ok();
      return;
    }
    const int64_t left = orders->after_us - (now - idle_since);
    const int64_t look = std::clamp(orders->after_us / 20, kShortestLookUs, kLongestLookUs);
    // Looks a few times a second whether the orders are still there.
    const int64_t until = now + std::min(left, look);
    while (SystemClock().MonotonicUs() < until && Exists(OrdersPath(home))) {
      ::usleep(static_cast<useconds_t>(
          std::clamp<int64_t>(until - SystemClock().MonotonicUs(), 1000, kShortestLookUs)));
    }
  }
}

Result<run::WatchIdleAnswer> WatchIdle(const std::string& home,
                                       const run::WatchIdleRequest& request) {
  if (request.look) return Tell(home, request.runs_only);
  if (request.stop) {
    TENON_TRY_VOID(RemoveFile(OrdersPath(home)));
    for (int tries = 0; IsWatched(home) && tries < kStartTries; ++tries) ::usleep(kPauseUs);
    return Tell(home, /*runs_only=*/true);
  }
  if (request.after_us <= 0 || request.command.empty()) {
    return Invalid("reading the request: a watcher needs a time and a command");
  }
  TENON_TRY_VOID(MakeDirs(home, 0700));
  const json::Object orders{{"after_us", request.after_us},
                            {"command", json::EncodeBytes(request.command)},
                            {"given_us", SystemClock().NowUs()}};
  TENON_TRY_VOID(WriteFileAtomically(OrdersPath(home), json::Print(orders) + "\n", 0600,
                                     Durability::kPowerLoss));
  // A watcher that was about to end may have missed the orders. Then another one is started.
  for (int tries = 0; tries < kStartTries; ++tries) {
    if (IsWatched(home) && Exists(OrdersPath(home))) break;
    if (tries % 25 == 0) TENON_TRY_VOID(StartDetached([home] { WatchUntilIdle(home); }));
    ::usleep(kPauseUs);
  }
  return Tell(home, /*runs_only=*/true);
}

}  // namespace tenon::runner
