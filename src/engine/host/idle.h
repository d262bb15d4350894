// SPDX-License-Identifier: Apache-2.0
// Machines that cost money by the hour: what happens to one on which nothing goes on.
#ifndef TENON_ENGINE_HOST_IDLE_H_
#define TENON_ENGINE_HOST_IDLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"

namespace tenon::engine {

// Has the machine watch itself if its target asks for that (`whenIdle`). May be repeated: there is
// one watcher, which takes what was said last. Ends the one of an earlier time if its target does
// not ask any more. Does nothing for a machine whose target never asked, and so nothing on this
// one.
Status WatchIdleIfAsked(Machine& machine);

struct IdleState {
  bool watching = false;
  int64_t idle_since_us = 0;      // 0: something goes on, or there was no run yet
  std::vector<std::string> busy;  // what goes on, in words
  std::string last;               // what the watcher noted last; "" = nothing yet
  // Its orders, as they are there; 0 and "" without a watcher.
  int64_t after_us = 0;
  std::string command;
};
// kInvalid: the target does not say what is to be done.
Result<IdleState> StartIdleWatch(Machine& machine);
Result<IdleState> StopIdleWatch(Machine& machine);
// Whether there is one, what it is to do, what it noted, and what keeps the machine from being
// idle: runs, processes on a GPU, logins.
Result<IdleState> LookAtIdleWatch(Machine& machine);

// Runs of the machine's home that go on, in words: what can be told in no time.
Result<std::vector<std::string>> LookForRuns(Machine& machine);

// One line for the end of a watched run: that the machine is still on, what else goes on there as
// far as was asked, and what turns it off.
std::string IdleWords(const HostRecord& host, const std::vector<std::string>& busy);

// "30 min", "1 h", "90 s".
std::string ShortDuration(int64_t us);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_IDLE_H_
