// SPDX-License-Identifier: Apache-2.0
#include "engine/run/retry.h"

#include <fcntl.h>

#include <cerrno>

#include "base/durable.h"
#include "base/file.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kMaxClaim = 4096;

// Overwrites the file in place, because this process holds a lock on it.
Status WriteClaim(const std::string& path, const std::string& text) {
  TENON_TRY(const UniqueFd file, OpenRegular(path, O_WRONLY | O_TRUNC));
  TENON_TRY_VOID(WriteAll(file.get(), text));
  if (DurableFsync(file.get()) != 0) return FromErrno("sync " + path, errno);
  return {};
}

bool NeverStarted(const Context& context, const std::string& run_id) {
  const auto run = journal::FoldRunFolder(run::RunFolder(context.home, run_id).path());
  return run.ok() && run->end && run->end->never_started;
}

// The id under which the machine knows that another client started the run again; "" = none.
std::string StartedByAnother(Context& context, const journal::RunView& run) {
  const auto machine = context.At(run.spec.host);
  return machine.ok() ? (*machine)->runs().StartedAgainAs(run.spec.id) : "";
}

}  // namespace

Result<std::optional<std::string>> RetryAfterRestart(Context& context, const std::string& run_id,
                                                     const std::vector<Secret>& secrets,
                                                     Reporter& reporter) {
  const run::RunFolder folder(context.home, run_id);
  TENON_TRY(const journal::RunView run, journal::FoldRunFolder(folder.path()));
  if (!run.end || !run.end->rebooted || run.spec.retries <= 0) return std::optional<std::string>();
  // The holder of the lock starts the run again. The file has the id of the run that was recorded
  // for that.
  const std::string claim = JoinPath(folder.path(), "retried");
  auto claimed = FileLock::Take(claim, /*wait=*/false);
  if (!claimed.ok()) return std::optional<std::string>();
  TENON_TRY(const std::string before, ReadFile(claim, kMaxClaim));
  if (const std::string id(Trim(before)); !id.empty() && !NeverStarted(context, id)) {
    return std::optional<std::string>();
  }
  if (const std::string other = StartedByAnother(context, run); !other.empty()) {
    TENON_TRY_VOID(WriteClaim(claim, other + "\n"));
    reporter.OnNotice({run::Level::kWarning,
                       "the machine was restarted; another client has started " + run_id +
                           " again as " + ForTerminal(other),
                       "`tenon runs fetch -t " + ShellQuote(run.spec.target) + " " +
                           ShellQuote(other) + "` brings it here"});
    return std::optional<std::string>();
  }
  std::string recorded;
  RerunRequest request;
  request.in_its_place = true;
  request.run_id = run_id;
  request.secrets = secrets;
  request.environment = CurrentEnvironment();
  request.retries = run.spec.retries - 1;
  request.before_start = [&](const std::string& id) {
    recorded = id;
    return WriteClaim(claim, id + "\n");
  };
  auto again = Rerun(context, std::move(request), reporter);
  if (!again.ok()) {
    // A run that may have started keeps its claim, so that it is not started once more.
    const bool may_go = !recorded.empty() && !NeverStarted(context, recorded) &&
                        IsDirectory(run::RunFolder(context.home, recorded).path());
    if (!may_go) TENON_TRY_VOID(WriteClaim(claim, ""));
    reporter.OnNotice({run::Level::kWarning,
                       "the machine was restarted, but the run could not be started again: " +
                           again.error().message,
                       again.error().hint});
    return std::optional<std::string>();
  }
  reporter.OnNotice({run::Level::kWarning,
                     "the machine was restarted; " + run_id + " was started again as " + *again +
                         " (" + std::to_string(run.spec.retries - 1) + " retries left)",
                     ""});
  return std::optional<std::string>(*again);
}

}  // namespace tenon::engine
