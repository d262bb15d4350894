// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/targets/host_name.h"
#include "engine/host/idle.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string host;
  bool start = false, stop = false;
};

Result<int> Act(Session& session, const Options& options) {
  if (options.start && options.stop) return Invalid("--start and --stop contradict each other");
  auto found = FindHost(session, options.host);
  // A watcher can be ended even if the target's file has errors.
  if (!found.ok() && options.stop) {
    if (auto known = FindRecordedHost(session, options.host); known.ok()) found = std::move(known);
  }
  TENON_TRY(const engine::HostRecord host, std::move(found));
  const bool asked = host.idle_after_us > 0 && !host.idle_command.empty();
  if (options.start && !asked) {
    return Invalid("target `" + OneLine(host.target) + "` does not say what to do when idle")
        .WithHint("write `whenIdle: {after: 30m, run: sudo poweroff}` into its .compute file");
  }
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(engine::Machine * machine, context->At(host.id));
  TENON_TRY(const engine::IdleState state, options.start  ? engine::StartIdleWatch(*machine)
                                           : options.stop ? engine::StopIdleWatch(*machine)
                                                          : engine::LookAtIdleWatch(*machine));
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"target", json::EncodeBytes(host.target)},
                                     {"watching", state.watching},
                                     {"idle_since_us", state.idle_since_us},
                                     {"busy", BusyJson(state.busy)},
                                     {"after_us", state.after_us},
                                     {"command", json::EncodeBytes(state.command)},
                                     {"last", json::EncodeBytes(state.last)}});
    return 0;
  }
  const int64_t now_us = context->clock->NowUs();
  PrintOut(
      OneLine(host.target) + ": " +
      (state.watching ? "a watcher is there; `" + OneLine(state.command) + "` runs after " +
                            engine::ShortDuration(state.after_us) + " idle"
                      : "no watcher is there; nothing turns it off") +
      (state.idle_since_us > 0 ? "; idle since " + AgoWords(state.idle_since_us, now_us) : "") +
      "\n");
  for (const std::string& one : state.busy) PrintOut("not idle: " + OneLine(one) + "\n");
  if (!state.last.empty()) PrintOut("last time: " + OneLine(state.last) + "\n");
  return 0;
}

}  // namespace

Command HostIdleCommand() {
  return {{{"host", "idle"}},
          "Show, start or end the watcher that stops an idle machine",
          "A target with `whenIdle: {after: 30m, run: COMMAND}` gets a watcher with each submit: a "
          "small process there that runs the command once nothing has gone on for so long, and "
          "ends. A run, a process on a GPU and a login of anybody keep the machine on; they are "
          "named. Without `whenIdle` there is none: the next submit ends it.",
          {"tenon host idle my_dsvm", "tenon host idle my_dsvm --stop"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table
                .Add("TARGET", &options->host,
                     "A target of this project, a name of `host list`, or an id")
                .Required();
            table.Flag("--start", &options->start, "Have it watched from now on");
            table.Flag("--stop", &options->stop, "End the watcher; the machine stays on");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
