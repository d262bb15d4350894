// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/targets/host_name.h"
#include "cli/targets/known_hosts.h"
#include "engine/host/idle.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

// What is known about a machine: from this home, or from asking the machine.
struct Known {
  uint64_t going = 0;             // runs
  int64_t last_end_us = 0;        // of the last run, if known
  int64_t idle_since_us = 0;      // 0: not idle or not known
  std::vector<std::string> busy;  // activity other than runs
  bool looked = false;
  std::string problem;  // why the machine could not be asked
};

std::string IdleSince(const Known& known, int64_t now_us) {
  if (known.going > 0 || !known.busy.empty()) return "busy";
  return known.idle_since_us == 0 ? "not known" : AgoWords(known.idle_since_us, now_us);
}

// What this home's record of runs tells about each machine, by its id.
Result<std::map<std::string, Known>> KnownHere(engine::Context& context) {
  std::map<std::string, Known> known;
  TENON_TRY_VOID(engine::Refresh(context));
  TENON_TRY(history::HistoryStore * store, context.History());
  history::RunQuery query;
  query.include_hidden = query.include_untracked = true;
  TENON_TRY_VOID(store->Visit(query, [&](const history::RunRow& row) -> Status {
    if (!row.spec.IsElsewhere()) return {};
    Known& one = known[row.spec.host];
    if (!run::IsFinal(row.state)) ++one.going;
    one.last_end_us = std::max(one.last_end_us, row.end_us);
    one.idle_since_us = one.last_end_us;
    return {};
  }));
  return known;
}

void LookAt(engine::Context& context, HostRecord& host, Known* known) {
  const auto look = [&]() -> Status {
    TENON_TRY(engine::Machine * machine, context.At(host.id));
    run::HostedRequest request;
    request.look = true;
    TENON_TRY(const run::HostedAnswer there, machine->services().Hosted(request));
    known->going = static_cast<uint64_t>(std::count_if(
        there.runs.begin(), there.runs.end(), [](const run::HostedRun& run) { return run.alive; }));
    known->idle_since_us = there.idle_since_us;
    known->busy = there.busy;
    known->looked = true;
    host.last_heard_us = context.clock->NowUs();
    engine::NoteHeard(context.home, host.id, host.last_heard_us);
    return {};
  };
  if (auto looked = look(); !looked.ok()) known->problem = looked.error().message;
}

json::Object ToJson(const HostRecord& host, const Known& known) {
  return {
      {"id", host.id},
      {"target", json::EncodeBytes(host.target)},
      {"project", json::EncodeBytes(ProjectOf(host))},
      {"project_root", json::EncodeBytes(host.project_root)},
      {"type", host.type},
      {"address", json::EncodeBytes(host.address)},
      {"port", host.port},
      {"user", json::EncodeBytes(host.user)},
      {"last_heard_us", host.last_heard_us},
      {"runs_going", known.going},
      {"idle_since_us", known.going > 0 ? 0 : known.idle_since_us},
      {"busy", BusyJson(known.busy)},
      {"gpu", GpuWords(host)},
      {"when_idle", host.idle_command.empty() ? json::Value(nullptr)
                                              : json::Value(json::EncodeBytes(host.idle_command))},
      {"looked", known.looked},
      {"problem", known.problem.empty() ? json::Value(nullptr)
                                        : json::Value(json::EncodeBytes(known.problem))}};
}

Result<int> Act(Session& session, bool look) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(auto hosts, KnownHosts(context->home));
  TENON_TRY(auto known, KnownHere(*context));
  json::Array list;
  Table table({{"Target"},
               {"Project"},
               {"Address"},
               {"Last heard"},
               {"Runs", true},
               {"Idle since"},
               {"GPU"},
               {"Id"}});
  for (HostRecord& host : hosts) {
    Known& one = known[host.id];
    if (look) LookAt(*context, host, &one);
    if (!one.problem.empty() && !session.WantsJson()) {
      FlushOut();
      PrintErr(OneLine(host.target) + ": " + OneLine(one.problem) + "\n");
    }
    for (const std::string& what : one.busy) {
      if (session.WantsJson()) break;
      FlushOut();
      PrintErr(OneLine(host.target) + " is not idle: " + OneLine(what) + "\n");
    }
    const int64_t now_us = context->clock->NowUs();
    list.push_back(ToJson(host, one));
    table.Add({OneLine(host.target), OneLine(ProjectOf(host)),
               OneLine(host.address) + (host.port != 0 ? ":" + std::to_string(host.port) : ""),
               AgoWords(host.last_heard_us, now_us), std::to_string(one.going),
               one.problem.empty() ? IdleSince(one, now_us) : "not reached", GpuWords(host),
               host.id.substr(0, kHostDigits)});
  }
  PrintListing(session, list, table);
  if (hosts.empty() && !session.WantsJson()) {
    FlushOut();
    PrintErr("no machine is known yet; `tenon computetarget attach remote` makes one known\n");
  }
  return 0;
}

}  // namespace

Command HostListCommand() {
  return {{{"host", "list"}},
          "List the machines that are known, with runs and idle time",
          "Tells what is known here and contacts nobody; --look goes and asks each machine. \"Idle "
          "since\" is when the last run on it ended: a rented machine that is on costs money all "
          "the same.",
          {"tenon host list", "tenon host list --look", "tenon host list --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto look = std::make_shared<bool>(false);
            table.Flag("--look", look.get(), "Ask each machine, one after the other");
            return [look](Session& session) { return Act(session, *look); };
          }};
}

}  // namespace tenon::cli
