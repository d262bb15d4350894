// SPDX-License-Identifier: Apache-2.0
// A control group (v2) per run, where we may make one. It is the only way to find every process of
// a run whatever the processes do. Everything is done through files, so no system call newer than
// cgroups themselves is needed.
#ifndef TENON_EXECUTOR_CGROUP_H_
#define TENON_EXECUTOR_CGROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::executor {

// Where the v2 hierarchy is mounted: at /sys/fs/cgroup, at /sys/fs/cgroup/unified beside v1, or
// anywhere else. `root` is the part of the hierarchy that the mount shows ("/" = all of it).
struct CgroupMount {
  std::string mount_point;
  std::string root;
};
std::optional<CgroupMount> FindCgroupMount(std::string_view mountinfo);

// The folder of the group that a /proc/PID/cgroup text names, as seen through that mount. nullopt:
// the text has only v1 groups, or the mount does not show the group.
std::optional<std::string> CgroupFolder(const CgroupMount& mount, std::string_view proc_cgroup);

std::string CgroupName(std::string_view run_key);  // "tenon-<key>"

// Makes the run's group below our own and returns its folder. May be repeated. Usually fails in a
// plain login, which may not make groups.
Result<std::string> MakeRunCgroup(const std::string& run_key);

// A run's group, held by its user with a shared flock on the folder, so that RemoveDeadCgroups()
// does not remove it before the first process is in it.
struct HeldCgroup {
  std::string folder;
  UniqueFd fd;  // of the folder; closing it releases the lock
};
Result<HeldCgroup> MakeAndHoldRunCgroup(const std::string& run_key);

// Removes the groups that killed runners have left: those that are empty and held by nobody. Looks
// beside the group that a run of ours would get or, with `everywhere`, at all that the mount shows.
// Groups with other names and groups that we may not remove stay. Returns how many it removed.
int RemoveDeadCgroups(bool everywhere);
// The same below `folder`, `depth` folders deep.
int RemoveDeadCgroupsBelow(const std::string& folder, int depth);

// Finds the folder of a run's group that another process has made; "" = there is none.
std::string FindRunCgroup(const std::string& run_key);

// The processes in the group and in the groups below it.
std::vector<pid_t> CgroupProcesses(const std::string& folder);
// Kills all of them at once, where the kernel can (5.14); returns false where it can't.
bool KillCgroup(const std::string& folder);
// Whether the kernel killed a process of the group because memory ran out.
bool CgroupOutOfMemory(const std::string& folder);
// What the memory controller, v2 or v1, tells a container about itself.
struct GroupMemory {
  bool out_of_memory = false;  // the kernel killed a process because memory ran out
  int64_t peak_bytes = 0;      // 0: not known
};
GroupMemory OwnGroupMemory(const std::string& mount_point = "/sys/fs/cgroup");
// Removes the group and the groups below it; a group with processes stays. Waits for at most a
// second until killed processes have left it.
void RemoveCgroup(const std::string& folder);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CGROUP_H_
