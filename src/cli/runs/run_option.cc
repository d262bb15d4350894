// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_option.h"

#include "base/text.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/host/hosts.h"
#include "engine/run/retry.h"
#include "engine/run/runs.h"

namespace tenon::cli {

Result<std::string> RunOption::Name(const std::string& otherwise) const {
  if (!word.empty()) return word;
  if (!option.empty()) return option;
  if (!otherwise.empty()) return otherwise;
  return Invalid("which run?")
      .WithHint("name it by id, number, beginning of an id, or `last`; `tenon runs` lists them");
}

Result<journal::RunView> RunOption::Get(Session& session, const std::string& otherwise) const {
  TENON_TRY(const std::string name, Name(otherwise));
  TENON_TRY(const std::string run_id, session.ResolveRun(name));
  TENON_TRY(engine::Context * context, session.Context());
  return engine::GetRun(*context, run_id);
}

Result<journal::RunView> RunOption::GoAndGet(Session& session, const std::string& otherwise) const {
  TENON_TRY(const std::string name, Name(otherwise));
  TENON_TRY(const std::string run_id, session.ResolveRun(name));
  TENON_TRY(engine::Context * context, session.Context());
  TerminalReporter reporter({.show_output = false});
  auto looked = engine::RefreshRun(*context, run_id, engine::Look::kThere, &reporter);
  if (!looked.ok()) {
    const bool unreachable = looked.error().kind == ErrorKind::kUnavailable;
    const bool denied = looked.error().kind == ErrorKind::kDenied;
    const auto host = engine::HostOfRun(*context, run_id);
    const bool far = host.ok() && !host->empty();
    const bool detached = far && engine::IsDetached(context->home, *host);
    if (!unreachable && !denied && !detached) return std::move(looked).error();
    // What was last known is still worth showing, even if the index of this home can only be read.
    if (unreachable || far) {
      PrintErr("warning: " + Hanging(looked.error().message) + "; this is what was last heard\n");
    }
  }
  TENON_TRY_VOID(engine::RetryAfterRestart(*context, run_id, {}, reporter));
  return engine::GetRun(*context, run_id);
}

void AddRunOption(OptionTable& table, RunOption* run) {
  table.Add("RUN", &run->word, "The run: id, number, beginning of an id, or `last`");
  table.Add("-r,--run", &run->option, "The same as an option").Type("RUN");
  table.Add("-t,--target", &run->target, "Accepted as the Workbench did; a run knows its target")
      .Type("NAME");
}

}  // namespace tenon::cli
