// SPDX-License-Identifier: Apache-2.0
// The watcher that stops an idle machine, and the verb that starts, changes and ends it.
//
//   <home>/idle.json   the watcher's orders; it ends when this file is gone
//   <home>/idle.lock   held by the one watcher of the home
//   <home>/idle.log    when it ran the command, and how that ended
#ifndef TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_
#define TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_

#include <string>

#include "base/result.h"
#include "run/requests.h"

namespace tenon::runner {

// The verb `watch-idle`. May be repeated. kInvalid: the request asks for a watcher but has no time
// or no command.
Result<run::WatchIdleAnswer> WatchIdle(const std::string& home,
                                       const run::WatchIdleRequest& request);

// Runs as the watcher, until it has run the command or its orders are gone. Returns at once when
// the home has another watcher.
void WatchUntilIdle(const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_WATCH_IDLE_H_
