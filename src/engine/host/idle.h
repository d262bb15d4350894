// SPDX-License-Identifier: Apache-2.0
// Machines that cost money by the hour: what happens when nothing runs on them.
#ifndef TENON_ENGINE_HOST_IDLE_H_
#define TENON_ENGINE_HOST_IDLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"

namespace tenon::engine {

// Has the machine watch itself if its target asks for that (`whenIdle`). If the target no longer
// asks, ends the watcher that was started before. Does nothing for a machine whose target never
// asked; this machine is such a machine. May be repeated: there is one watcher, and the last orders
// count.
Status WatchIdleIfAsked(Machine& machine);

struct IdleState {
  bool watching = false;
  int64_t idle_since_us = 0;      // 0: the machine is busy, or had no run yet
  std::vector<std::string> busy;  // what keeps the machine busy, in words
  std::string last;               // the watcher's last log line; "" = none yet
  // The watcher's orders as the machine has them; 0 and "" without a watcher.
  int64_t after_us = 0;
  std::string command;
};
// Starts the watcher. Fails with kInvalid when the target does not say what is to be done.
Result<IdleState> StartIdleWatch(Machine& machine);
Result<IdleState> StopIdleWatch(Machine& machine);
// Reports whether there is a watcher, its orders, what it noted, and what keeps the machine from
// being idle: runs, processes on a GPU, logins.
Result<IdleState> LookAtIdleWatch(Machine& machine);

// The runs that go on in the machine's home, in words. Looks at nothing else, so it is quick.
Result<std::vector<std::string>> LookForRuns(Machine& machine);

// One line for the end of a watched run: that the machine is still on, what keeps it busy (`busy`),
// and what turns it off.
std::string IdleWords(const HostRecord& host, const std::vector<std::string>& busy);

// Returns "30 min", "1 h" or "90 s".
std::string ShortDuration(int64_t us);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_IDLE_H_
