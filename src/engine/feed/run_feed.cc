// SPDX-License-Identifier: Apache-2.0
#include "engine/feed/run_feed.h"

#include "base/waiting.h"

namespace tenon::engine {

run::Notice StoppedNotice(const std::string& run_id, const RunFeed::Stopped& stopped) {
  const std::string pid = std::to_string(stopped.pid);
  if (stopped.here) {
    return {run::Level::kWarning,
            "tenon (process " + pid + "), which copies the journal of " + run_id +
                " to this machine, is stopped; nothing new comes",
            LockHolder{stopped.pid, "tenon", true}.Hint()};
  }
  const std::string there = stopped.where.empty() ? "" : " on " + stopped.where;
  return {run::Level::kWarning,
          "the runner of " + run_id + " is stopped (process " + pid + there +
              "); nothing is recorded until it goes on",
          "`kill -CONT " + pid + "`" + there + " lets it go on; `tenon cancel " + run_id +
              "` ends the run"};
}

}  // namespace tenon::engine
