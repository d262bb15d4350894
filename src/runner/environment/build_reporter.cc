// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/build_reporter.h"

#include <fcntl.h>

#include "base/file.h"

namespace tenon::runner {

JournalBuildReporter::JournalBuildReporter(Handover& handover, const std::string& log_path)
    : handover_(handover) {
  auto opened = OpenFile(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (opened.ok()) log_ = std::move(*opened);
}

void JournalBuildReporter::OnStep(const run::Step& step) { handover_.Put(step); }

void JournalBuildReporter::OnProgress(const std::string& step, const std::string& detail,
                                      uint64_t done, uint64_t total) {
  // The first report of a step is never dropped.
  const bool first = step != last_step_;
  last_step_ = step;
  if (throttle_.Due() || first) handover_.Put(run::Progress{step, detail, done, total});
}

void JournalBuildReporter::OnOutput(std::string_view bytes) {
  if (log_.valid()) (void)WriteAll(log_.get(), bytes).ok();
}

}  // namespace tenon::runner
