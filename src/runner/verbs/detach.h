// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_DETACH_H_
#define TENON_RUNNER_VERBS_DETACH_H_

#include <functional>

#include "base/result.h"

namespace tenon::runner {

// Closes every descriptor above the standard streams but `keep` (-1: none).
void CloseOthers(int keep);

// Carries out `body` in a process that is nobody's child but init's: own session, standard streams
// on /dev/null, no other descriptor of ours, hang-up ignored, the root as its folder. Returns at
// once; the process ends when `body` returns.
Status StartDetached(const std::function<void()>& body);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_DETACH_H_
