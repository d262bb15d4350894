// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/targets/host_name.h"
#include "cli/targets/target_host.h"
#include "engine/host/idle.h"
#include "engine/host/machine.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

struct Options {
  std::string host;
  bool probe = false;
  size_t limit = 10;
};

uint64_t RunBytes(const run::HostedAnswer& there) {
  uint64_t sum = 0;
  for (const run::HostedRun& run : there.runs) sum += run.bytes;
  return sum;
}

json::Object ToJson(const HostRecord& host, const run::HostedAnswer& there) {
  json::Array runs;
  for (const run::HostedRun& run : there.runs) {
    runs.push_back(json::Object{{"run_id", json::EncodeBytes(run.run_id)},
                                {"project", json::EncodeBytes(run.project)},
                                {"script", json::EncodeBytes(run.script)},
                                {"state", run.state},
                                {"alive", run.alive},
                                {"created_us", run.created_us},
                                {"ended_us", run.ended_us},
                                {"bytes", run.bytes},
                                {"work_bytes", run.work_bytes}});
  }
  json::Object kept{
      {"runs_bytes", RunBytes(there)},        {"environments_bytes", there.environments_bytes},
      {"objects_bytes", there.objects_bytes}, {"cache_bytes", there.cache_bytes},
      {"data_bytes", there.data_bytes},       {"other_bytes", there.other_bytes}};
  return {
      {"id", host.id},
      {"target", json::EncodeBytes(host.target)},
      {"address", json::EncodeBytes(host.address)},
      {"port", host.port},
      {"user", json::EncodeBytes(host.user)},
      {"host_key", HostKeyJson(host)},
      {"facts", FactsJson(host)},
      {"kept", std::move(kept)},
      {"disk_free_bytes", there.disk_free_bytes},
      {"idle_since_us", there.idle_since_us},
      {"busy", BusyJson(there.busy)},
      {"when_idle", host.idle_command.empty()
                        ? json::Value(nullptr)
                        : json::Value(json::Object{{"after_us", host.idle_after_us},
                                                   {"run", json::EncodeBytes(host.idle_command)}})},
      {"runs", std::move(runs)}};
}

void PrintKept(const Session& session, const run::HostedAnswer& there) {
  Table parts({{"Size"}, {"What Tenon keeps there"}});
  const auto add = [&](uint64_t bytes, const std::string& what) {
    if (bytes > 0) parts.Add({HumanBytes(bytes), what});
  };
  add(RunBytes(there), "journals and folders of " + Count(there.runs.size(), "run", "runs"));
  add(there.objects_bytes, "files of snapshots and outputs");
  add(there.environments_bytes, "environments (images are the engine's)");
  add(there.cache_bytes, "downloaded packages and tools");
  add(there.data_bytes, "data");
  add(there.other_bytes, "runners and other");
  parts.Add({HumanBytes(there.disk_free_bytes), "free on that disk"});
  PrintListing(session, nullptr, parts);
}

void PrintRuns(const Session& session, const run::HostedAnswer& there, size_t limit,
               int64_t now_us) {
  if (there.runs.empty() || limit == 0) return;
  Table runs({{"Run"}, {"Project"}, {"State"}, {"Began"}, {"Size"}});
  for (size_t i = 0; i < std::min(limit, there.runs.size()); ++i) {
    const run::HostedRun& run = there.runs[i];
    runs.Add({OneLine(run.run_id), OneLine(run.project),
              run.alive ? run.state + " (goes on)" : run.state, AgoWords(run.created_us, now_us),
              HumanBytes(run.bytes)});
  }
  PrintOut("\n");
  PrintListing(session, nullptr, runs);
}

std::string IdleText(const HostRecord& host, const run::HostedAnswer& there, bool watching,
                     int64_t now_us) {
  const bool busy = std::any_of(there.runs.begin(), there.runs.end(),
                                [](const run::HostedRun& run) { return run.alive; });
  const std::string since = busy                  ? "a run goes on"
                            : !there.busy.empty() ? "not idle: " + OneLine(Join(there.busy, "; "))
                            : there.idle_since_us == 0
                                ? "idle; no run yet"
                                : "idle since " + AgoWords(there.idle_since_us, now_us);
  if (!watching) {
    return since + "; nothing turns it off" +
           (host.idle_command.empty() ? "" : " (the next submit starts its watcher)");
  }
  return since + "; a watcher runs `" + OneLine(host.idle_command) + "` after " +
         engine::ShortDuration(host.idle_after_us) + " idle";
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(HostRecord host, FindHost(session, options.host));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(engine::Machine * machine, context->At(host.id));
  if (options.probe) TENON_TRY_VOID(machine->Probe());
  run::HostedRequest look;
  look.look = true;
  TENON_TRY(const run::HostedAnswer there, machine->services().Hosted(look));
  TENON_TRY(const engine::IdleState idle, engine::LookAtIdleWatch(*machine));
  const int64_t now_us = context->clock->NowUs();
  engine::NoteHeard(context->home, host.id, now_us);
  TENON_TRY(host, engine::ReadHost(context->home, host.id));
  host.facts["disk_free_bytes"] = there.disk_free_bytes;
  if (session.WantsJson()) {
    json::Object object = ToJson(host, there);
    object["idle_watcher"] = idle.watching;
    PrintValue(session, object);
    return 0;
  }
  PrintOut(FactsText(host));
  PrintOut("\n");
  PrintKept(session, there);
  PrintRuns(session, there, options.limit, now_us);
  FlushOut();
  PrintErr(IdleText(host, there, idle.watching, now_us) + "\n");
  return 0;
}

}  // namespace

Command HostShowCommand() {
  return {{{"host", "show"}},
          "Show what a machine offers, and what Tenon keeps on it",
          "Goes and looks. `tenon host clean` gives space back.",
          {"tenon host show my_dsvm", "tenon host show my_dsvm --probe",
           "tenon host show my_dsvm --query kept"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table
                .Add("TARGET", &options->host,
                     "A target of this project, a name of `host list`, or an id")
                .Required();
            table.Flag("--probe", &options->probe,
                       "Find out again what it offers: engines, GPU, Pythons");
            table.Add("-n,--limit", &options->limit, "So many of its runs (10)").Type("N");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
