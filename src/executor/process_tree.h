// SPDX-License-Identifier: Apache-2.0
// Every process of a run, and the end of them.
//
// Four ways lead to a process, and it takes only one of them: it is in the run's cgroup; it
// descends from the supervisor, which as subreaper inherits every orphan, so a double fork changes
// nothing; it has the run's mark (run_mark.h), which a process without privileges cannot lose; it
// has TENON_RUN_KEY=<key> in its environment. The last two are all there is to go by once the
// supervisor is dead and no cgroup could be made. A process whose mark or environment names another
// run belongs to that run, and so do its descendants: a script may submit a run of its own, which
// outlives it.
//
// Processes older than the run are not looked at, which makes the look cheap on a busy machine.
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

// Processes by pid and start time, so that one is never counted twice and never mistaken.
using ProcessSet = std::set<std::pair<pid_t, uint64_t>>;

struct TreeQuery {
  std::string run_key;
  std::string cgroup;             // folder; "" = none
  pid_t supervisor = 0;           // its descendants belong to the run, itself not; 0 = it is dead
  uint64_t not_before_ticks = 0;  // start time of the supervisor: nothing of the run is older
  bool marked = false;            // every process of the run has been given its mark
  bool descendants_only = false;  // of the supervisor: it has started one of several parts of a run
  ProcessSet apart;               // children of the supervisor that are not of the run, with theirs
  std::string proc = "/proc";     // tests only
};

struct TreeProcess {
  pid_t pid = 0;
  pid_t group = 0;
  uint64_t start_ticks = 0;
};

struct TreeScan {
  std::vector<TreeProcess> processes;  // alive (no zombies), ourselves left out
  bool foreign = false;                // another run was found among them and left out
  int64_t unseen = 0;                  // see run::Proof
  bool looked = true;                  // false: there is no /proc that shows processes
  std::string remark;                  // what could not be seen, in words
};

TreeScan ScanTree(const TreeQuery& query);

// Sends a signal to each, unless its pid belongs to somebody else by now. Adds them to `signaled`.
void SignalProcesses(const std::vector<TreeProcess>& processes, int signal, ProcessSet* signaled);

// Stops and kills until a look finds nobody, for at most `limit_us`. Those in `signaled` were asked
// to go before and count as ended by us; those killed here are added.
run::Proof EndTree(const TreeQuery& query, int64_t limit_us, ProcessSet* signaled);

// What can be said of the machine's GPUs at the end of a run.
std::string GpuRemark();

// What a /proc mounted like this hides from us ("" = nothing).
std::string HiddenByProc(std::string_view mountinfo, uid_t uid);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_PROCESS_TREE_H_
