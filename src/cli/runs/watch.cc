// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/watch.h"

#include "base/file.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "engine/host/idle.h"
#include "engine/run/follow.h"
#include "engine/run/retry.h"
#include "engine/run/runs.h"
#include "run/damage.h"

namespace tenon::cli {
namespace {

// After the repair of a folder, further damage below it may be found.
constexpr int kMostTries = 4;

void PrintRunId(const Session& session, const std::string& run_id, const std::string& status) {
  const json::Object answer{{"run_id", json::EncodeBytes(run_id)}, {"status", status}};
  if (session.query) {
    PrintValue(session, answer);
  } else if (session.WantsJson()) {
    PrintJsonText(json::Print(answer) + "\n");
  } else {
    PrintOut(run_id + "\n");
  }
  FlushOut();
}

// Reminds the user that the machine, which may be paid for by the hour, is still on.
void SayIfStillOn(engine::Context& context, const std::string& run_id) {
  const auto host = engine::HostOfRun(context, run_id);
  if (!host.ok() || host->empty()) return;
  const auto record = engine::ReadHost(context.home, *host);
  if (!record.ok()) return;
  // If the machine can't be asked, it counts as on and idle.
  const auto machine = context.At(*host);
  const auto busy = machine.ok() ? engine::LookForRuns(**machine)
                                 : Result<std::vector<std::string>>(std::vector<std::string>{});
  PrintErr(engine::IdleWords(*record, busy.ok() ? *busy : std::vector<std::string>{}) + "\n");
}

struct Watched {
  int exit_code = 0;
  bool damaged = false;  // the run could not begin because its snapshot is damaged
};

Result<Watched> Watch(Session& session, const std::string& run_id, const WatchOptions& options,
                      const std::vector<engine::Secret>& secrets, const InterruptWatch& interrupt,
                      TerminalReporter& reporter, bool last_try) {
  TENON_TRY(engine::Context * context, session.Context());
  if (options.detach) {
    if (!options.workbench || session.WantsJson()) PrintRunId(session, run_id, "Starting");
    return Watched();
  }
  if (options.quiet && !session.WantsJson()) PrintRunId(session, run_id, "");
  engine::FollowOptions follow;
  follow.stop = &interrupt.stop();
  TENON_TRY(const engine::Followed followed, engine::Follow(*context, run_id, follow, reporter));
  if (followed.end && followed.end->rebooted) {
    TENON_TRY(const auto again, engine::RetryAfterRestart(*context, run_id, secrets, reporter));
    if (again) return Watch(session, *again, options, secrets, interrupt, reporter, true);
  }
  if (!followed.end) {
    PrintErr("\nno longer watching; the run goes on\n  watch again:  tenon logs -f " + run_id +
             "\n  stop the run: tenon cancel " + run_id + "\n");
    if (session.WantsJson()) PrintRunId(session, run_id, "Running");
    return Watched{130};
  }
  if (auto status = engine::RefreshRun(*context, run_id); !status.ok()) {
    PrintErr("warning: the run is recorded, but the index was not updated: " +
             OneLine(status.error().message) + "\n");
  }
  const int code = followed.end->exit_code.value_or(1);
  if (!last_try && run::IsDamagedSnapshot(*followed.end)) {
    reporter.OnNotice({run::Level::kWarning,
                       "files of the snapshot are damaged in the store; what the project still has "
                       "of them is put there again, and the run is started anew",
                       ""});
    return Watched{code, true};
  }
  if (session.WantsJson())
    PrintRunId(session, run_id, std::string(run::StateName(followed.end->state)));
  if (!options.quiet && !session.WantsJson()) SayIfStillOn(*context, run_id);
  return Watched{code};
}

}  // namespace

void AddWatchOptions(OptionTable& table, WatchOptions* options) {
  table.Flag("-a,--detach", &options->detach, "Return at once with the run's id; the run goes on");
  table.Flag("-q,--quiet", &options->quiet, "Print the run's id and nothing else");
}

Result<int> StartAndWatch(Session& session, const StartOfRun& how, const WatchOptions& options,
                          const std::vector<engine::Secret>& secrets,
                          const InterruptWatch& interrupt, TerminalReporter& reporter) {
  for (int tries = 1;; ++tries) {
    TENON_TRY(const std::string run_id, how.start());
    TENON_TRY(const Watched watched,
              Watch(session, run_id, options, secrets, interrupt, reporter, tries == kMostTries));
    if (!watched.damaged) return watched.exit_code;
    auto mended = how.mend(run_id);
    if (!mended.ok()) {
      PrintError(mended.error());
      return watched.exit_code;
    }
  }
}

Result<std::vector<engine::Secret>> ReadSecrets(const std::vector<std::string>& words,
                                                const Environment& environment) {
  std::vector<engine::Secret> secrets;
  auto from_environment = [&](const std::string& name) -> Result<std::string> {
    const auto it = environment.find(name);
    if (it == environment.end()) {
      return NotFound("--secret: the environment has no variable " + name)
          .WithHint("export " + name + " first, or use --secret NAME=@FILE");
    }
    return it->second;
  };
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    engine::Secret secret;
    secret.name = word.substr(0, equals);
    if (secret.name.empty()) return Invalid("--secret " + word + ": a name is missing");
    if (equals == std::string::npos) {
      TENON_TRY(secret.value, from_environment(secret.name));
    } else if (word.compare(equals + 1, 1, "@") == 0) {
      TENON_TRY(secret.value, ReadStream(word.substr(equals + 2), 1u << 20));
      while (secret.value.ends_with('\n') || secret.value.ends_with('\r')) secret.value.pop_back();
    } else if (word.compare(equals + 1, 1, "$") == 0) {
      TENON_TRY(secret.value, from_environment(word.substr(equals + 2)));
    } else {
      return Invalid("--secret " + secret.name +
                     "=…: a value on the command line can be read by others")
          .WithHint("use --secret " + secret.name + " (from the environment), " + secret.name +
                    "=@FILE or '" + secret.name + "=$VARIABLE'");
    }
    secrets.push_back(std::move(secret));
  }
  return secrets;
}

Result<std::optional<int64_t>> ParseTime(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  const auto us = ParseDuration(text);
  if (!us)
    return Invalid(option + " " + text + ": not a length of time")
        .WithHint("write 90s, 10m, 2h or 1h30m");
  return us;
}

}  // namespace tenon::cli
