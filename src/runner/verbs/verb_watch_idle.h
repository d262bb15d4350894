// SPDX-License-Identifier: Apache-2.0
// The watcher that stops an idle machine, and the verb that starts, changes and ends it.
//
//   <home>/idle.json   what it is to do; it ends when this is gone
//   <home>/idle.lock   held by the one watcher of the home
//   <home>/idle.log    when it ran the command, and how that ended
#ifndef TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_
#define TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

Result<run::WatchIdleAnswer> WatchIdle(const std::string& home,
                                       const run::WatchIdleRequest& request);

// The watcher's life: until it has run the command, or nobody wants it any more. Returns at once
// when there is another.
void WatchUntilIdle(const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_
