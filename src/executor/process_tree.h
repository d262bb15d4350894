// SPDX-License-Identifier: Apache-2.0
// Finds every process of a run and ends them.
//
// A process belongs to a run if one of these holds: it is in the run's cgroup; it descends from the
// supervisor, which as subreaper inherits every orphan, so a double fork changes nothing; it has
// the run's mark (run_mark.h), which every child inherits; it has TENON_RUN_KEY=<key> in its
// environment. When the supervisor is dead and no cgroup could be made, only the last two tell. A
// process whose mark or environment names another run belongs to that run, and so do its
// descendants: a script may submit a run of its own, which outlives it.
//
// Processes older than the run are skipped, so a scan is cheap on a busy machine.
#ifndef TENON_EXECUTOR_PROCESS_TREE_H_
#define TENON_EXECUTOR_PROCESS_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/event.h"

namespace tenon::executor {

// Processes by pid and start time, so that a process which has got the pid of another is not taken
// for it.
using ProcessSet = std::set<std::pair<pid_t, uint64_t>>;

struct TreeQuery {
  std::string run_key;
  std::string cgroup;             // folder; "" = none
  pid_t supervisor = 0;           // its descendants belong to the run, itself not; 0 = it is dead
  uint64_t not_before_ticks = 0;  // start time of the supervisor: nothing of the run is older
  bool marked = false;            // every process of the run has been given its mark
  bool descendants_only = false;  // marks do not count: the supervisor has one part of the run
  ProcessSet apart;               // left out, with their descendants; see Script::LeaveOut()
  std::string proc = "/proc";     // tests only
};

struct TreeProcess {
  pid_t pid = 0;
  pid_t group = 0;
  uint64_t start_ticks = 0;
};

struct TreeScan {
  std::vector<TreeProcess> processes;  // alive (no zombies), ourselves left out
  bool foreign = false;                // processes of another run were seen and left out
  int64_t unseen = 0;                  // see run::Proof
  bool looked = true;                  // false: there is no /proc that shows processes
  std::string remark;                  // what could not be seen, in words
};

TreeScan ScanTree(const TreeQuery& query);

// Sends a signal to each, unless its pid belongs to another process by now. Adds them to
// `signaled`. Sends no SIGSTOP to those that are in `signaled` already.
void SignalProcesses(const std::vector<TreeProcess>& processes, int signal, ProcessSet* signaled);

// Stops and kills processes until a scan finds none, for at most `limit_us`. Those in `signaled`
// got a signal before and count as ended by us; those killed here are added.
run::Proof EndTree(const TreeQuery& query, int64_t limit_us, ProcessSet* signaled);

// What run::Proof::gpu says at the end of a run.
std::string GpuRemark();

// What /proc hides from the user `uid`, going by its mount in `mountinfo`, in words; "" = nothing.
std::string HiddenByProc(std::string_view mountinfo, uid_t uid);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_PROCESS_TREE_H_
