// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_REACH_BY_SSH_H_
#define TENON_ENGINE_HOST_REACH_BY_SSH_H_

#include <string>

#include "engine/host/other_machines.h"

namespace tenon::engine {

// Reaches other machines by SSH. The object has no state: what is kept lies in the home and in
// ssh's processes.
OtherMachines& ReachBySsh();

// Whether ssh started this program to ask a question. main() then calls AskpassMain() and does
// nothing else.
bool IsAskpass();
int AskpassMain(const std::string& prompt);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_REACH_BY_SSH_H_
