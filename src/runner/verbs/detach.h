// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_DETACH_H_
#define TENON_RUNNER_VERBS_DETACH_H_

#include <functional>

#include "base/result.h"

namespace tenon::runner {

// Closes every descriptor except the standard streams and `keep` (-1: none).
void CloseOthers(int keep);

// Runs `body` in a process whose parent is init: own session, standard streams on /dev/null, no
// other descriptor open, SIGHUP and SIGPIPE ignored, / as its working directory. Returns at once;
// the process ends when `body` returns. kUnavailable when no process can be made.
Status StartDetached(const std::function<void()>& body);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_DETACH_H_
