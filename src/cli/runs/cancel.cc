// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/parse/request_options.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "cli/print/terminal_reporter.h"
#include "cli/runs/run_option.h"
#include "cli/runs/watch.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

struct Options {
  RunOption run;
  std::string grace;
  bool no_wait = false;
};

// Prints what keeps the run from ending, and no other notices.
class Waiter : public engine::Reporter {
 public:
  void OnNotice(const run::Notice&) override {}
  void OnStuck(const run::Notice& notice) override { said_.OnNotice(notice); }

 private:
  TerminalReporter said_{{.show_output = false}};
};

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const std::string name, options.run.Name(""));
  TENON_TRY(const std::string run_id, session.ResolveRun(name));
  TENON_TRY(engine::Context * context, session.Context());
  // A run that can't be read is canceled all the same.
  const auto before = engine::GetRun(*context, run_id);
  const bool had_ended = before.ok() && run::IsFinal(before->state);
  engine::CancelOptions cancel;
  char machine[256] = "";
  (void)::gethostname(machine, sizeof machine - 1);
  cancel.who = UserName(session) + " on " + machine;
  TENON_TRY(cancel.grace_us, ParseTime("--grace", options.grace));
  cancel.wait = !options.no_wait;
  Waiter waiter;
  cancel.reporter = &waiter;
  TENON_TRY(const journal::RunView run, engine::Cancel(*context, run_id, cancel));
  if (session.WantsJson()) {
    PrintValue(session, RunToJson(run));
    return 0;
  }
  std::string text = run_id + ": " + ShownState(run);
  if (had_ended) {
    text += " (it had ended already)";
  } else if (run.end && run.end->proof) {
    const run::Proof& proof = *run.end->proof;
    text += "; processes left: " + std::to_string(proof.left) + " (looked by " +
            OneLine(proof.method) + ")";
    if (!proof.remark.empty()) text += ", " + OneLine(proof.remark);
  }
  PrintOut(text + "\n");
  return 0;
}

}  // namespace

Command CancelCommand() {
  return {
      {{"cancel"}, {"experiment", "cancel"}},
      "Stop a run: ask it to end, then kill everything of it",
      "The script gets SIGTERM; what is left of it after the grace time is killed, with all "
      "its children.",
      {"tenon cancel last", "tenon cancel 12 --grace 5s"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        AddRunOption(table, &options->run);
        table.Add("--grace", &options->grace, "How long the script may take to end (the run's own)")
            .Type("TIME");
        table.Flag("--no-wait", &options->no_wait, "Return when the request is on record");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
