// SPDX-License-Identifier: Apache-2.0
#include "engine/retry.h"

#include <fcntl.h>

#include "base/file.h"
#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::engine {

Result<std::optional<std::string>> RetryAfterRestart(Context& context, const std::string& run_id,
                                                     const std::vector<Secret>& secrets,
                                                     Reporter& reporter) {
  const run::RunFolder folder(context.home, run_id);
  TENON_TRY(const journal::RunView run, journal::FoldRunFolder(folder.path()));
  if (!run.end || !run.end->rebooted || run.spec.retries <= 0) return std::optional<std::string>();
  const std::string claim = JoinPath(folder.path(), "retried");
  auto claimed = OpenFile(claim, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!claimed.ok()) return std::optional<std::string>();
  RerunRequest request;
  request.run_id = run_id;
  request.secrets = secrets;
  request.environment = CurrentEnvironment();
  request.retries = run.spec.retries - 1;
  auto again = Rerun(context, std::move(request), reporter);
  if (!again.ok()) {
    TENON_TRY_VOID(RemoveFile(claim));
    reporter.OnNotice({run::Level::kWarning,
                       "the machine was restarted, but the run could not be started again: " +
                           again.error().message,
                       again.error().hint});
    return std::optional<std::string>();
  }
  TENON_TRY_VOID(WriteAll(claimed->get(), *again + "\n"));
  reporter.OnNotice({run::Level::kWarning,
                     "the machine was restarted; " + run_id + " was started again as " + *again +
                         " (" + std::to_string(run.spec.retries - 1) + " retries left)",
                     ""});
  return std::optional<std::string>(*again);
}

}  // namespace tenon::engine
