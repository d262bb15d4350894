// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/space/env_name.h"
#include "cli/targets/host_name.h"
#include "engine/space/environments.h"

namespace tenon::cli {
namespace {

std::string Ago(int64_t us, int64_t now_us) {
  if (us <= 0) return "";
  return now_us > us ? HumanDuration(now_us - us) + " ago" : "now";
}

Result<int> Act(Session& session, const std::string& target) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string host, HostIdNamed(session, target));
  TENON_TRY(const auto environments, engine::ListEnvironments(*context, host));
  const int64_t now_us = context->clock->NowUs();
  json::Array list;
  Table table({{"Key"},
               {"Kind"},
               {"Base"},
               {"Python"},
               {"Packages", true},
               {"Size"},
               {"Last use"},
               {"Runs", true}});
  uint64_t bytes = 0;
  for (const run::ListedEnvironment& one : environments) {
    const run::EnvironmentReady& ready = one.record.ready;
    bytes += ready.bytes;
    list.push_back(one.ToJson());
    table.Add({ready.key.substr(0, kKeyDigits), ready.kind, OneLine(ready.base),
               OneLine(ready.python_version), std::to_string(ready.packages.size()),
               HumanBytes(ready.bytes), one.in_use ? "in use" : Ago(one.last_used_us, now_us),
               std::to_string(one.runs.size())});
  }
  PrintListing(session, list, table);
  if (!session.WantsJson() && session.globals.output != "tsv") {
    FlushOut();
    PrintErr(environments.empty()
                 ? "no environment was made yet; `tenon env prepare -c NAME` makes one\n"
                 : Count(environments.size(), "environment", "environments") + ", " +
                       HumanBytes(bytes) + "\n");
  }
  return 0;
}

}  // namespace

Command EnvListCommand() {
  return {
      {{"env", "list"}},
      "List the environments that were made on a machine, newest use first",
      "Each is made once, for all runs that ask for the same packages on the same base, and "
      "kept until `tenon env clean` removes it.",
      {"tenon env list", "tenon env list -t my_dsvm", "tenon env list --json",
       "tenon env list --query \"[?in_use].ready.key\""},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto target = std::make_shared<std::string>();
        table.Add("-t,--target", target.get(), "On the machine of this target (here)").Type("NAME");
        return [target](Session& session) { return Act(session, *target); };
      }};
}

}  // namespace tenon::cli
