// SPDX-License-Identifier: Apache-2.0
// A control group (v2) per run, where we may make one: the one way to know every process of a run
// whatever it does. All of it is files, so it needs no system call newer than cgroups themselves.
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

// Folder of the group in a /proc/PID/cgroup text, as seen through that mount. nullopt: v1 only, or
// outside of what the mount shows.
std::optional<std::string> CgroupFolder(const CgroupMount& mount, std::string_view proc_cgroup);

std::string CgroupName(std::string_view run_key);  // "tenon-<key>"

// Makes the run's group below our own. An Error is the usual case for a plain login.
Result<std::string> MakeRunCgroup(const std::string& run_key);

// A run's group, held (flock on its folder) by who uses it, so that nobody takes it for a dead
// run's before the first process is in it.
struct HeldCgroup {
  std::string folder;
  UniqueFd fd;  // the folder; the lock goes with it
};
Result<HeldCgroup> MakeAndHoldRunCgroup(const std::string& run_key);

// Removes groups of runs, empty and held by nobody, that killed runners have left: those beside the
// group a run of ours would get, or with `everywhere` all that the mount shows. How many went.
// Groups that are not ours by name, or not ours to remove, stay.
int RemoveDeadCgroups(bool everywhere);
// The same below any folder; `depth` folders deep.
int RemoveDeadCgroupsBelow(const std::string& folder, int depth);

// Looks for the group of a run somebody else started; "" = there is none.
std::string FindRunCgroup(const std::string& run_key);

// Every process in the group and those below it.
std::vector<pid_t> CgroupProcesses(const std::string& folder);
// Kills all of them at once where the kernel can (5.14); false where it can't.
bool KillCgroup(const std::string& folder);
// Whether the kernel killed something in it for memory.
bool CgroupOutOfMemory(const std::string& folder);
// What the memory controller, v2 or v1, tells a container about itself.
struct GroupMemory {
  bool out_of_memory = false;  // the kernel killed something in it
  int64_t peak_bytes = 0;      // 0: not told
};
GroupMemory OwnGroupMemory(const std::string& mount_point = "/sys/fs/cgroup");
// Removes the group and those below it; one that is not empty stays. Processes that were killed may
// take a moment to leave it, which is waited for.
void RemoveCgroup(const std::string& folder);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CGROUP_H_
