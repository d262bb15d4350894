// SPDX-License-Identifier: Apache-2.0
#include "executor/cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace tenon::executor {
namespace {

// How deep we search for a group that another process has made. Deeper groups are not found.
constexpr int kSearchDepth = 8;
constexpr std::string_view kNamePrefix = "tenon-";
constexpr size_t kKeyLength = 36;  // a UUID
// How long a killed process may take to leave its group.
constexpr int kLeaveTries = 200;
constexpr useconds_t kLeaveUs = 5'000;

// Decodes "\040" and the like in mountinfo.
std::string UnescapeMount(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<CgroupMount> OurMount() {
  auto mountinfo = ReadFile("/proc/self/mountinfo");
  if (!mountinfo.ok()) return std::nullopt;
  return FindCgroupMount(*mountinfo);
}

std::vector<std::string> Subfolders(const std::string& folder) {
  std::vector<std::string> folders;
  auto names = ListDir(folder);
  if (!names.ok()) return folders;
  for (const std::string& name : *names) {
    std::string path = folder + "/" + name;
    if (IsDirectory(path)) folders.push_back(path);
  }
  return folders;
}

std::string Search(const std::string& folder, const std::string& name, int depth) {
  std::string here = folder + "/" + name;
  if (IsDirectory(here)) return here;
  if (depth == 0) return "";
  for (const std::string& below : Subfolders(folder)) {
    std::string found = Search(below, name, depth - 1);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

std::optional<CgroupMount> FindCgroupMount(std::string_view mountinfo) {
  for (const std::string& line : Split(mountinfo, '\n')) {
    // 35 24 0:30 <root> <mount point> rw,… [optional fields] - <type> <source> <options>
    size_t dash = line.find(" - ");
    if (dash == std::string::npos || line.compare(dash + 3, 8, "cgroup2 ") != 0) continue;
    std::vector<std::string> fields = Split(line.substr(0, dash), ' ');
    if (fields.size() < 6) continue;
    return CgroupMount{UnescapeMount(fields[4]), UnescapeMount(fields[3])};
  }
  return std::nullopt;
}

std::optional<std::string> CgroupFolder(const CgroupMount& mount, std::string_view proc_cgroup) {
  for (const std::string& line : Split(proc_cgroup, '\n')) {
    if (line.compare(0, 3, "0::") != 0) continue;
    std::string path = line.substr(3);
    if (path.compare(0, 3, "/..") == 0) return std::nullopt;
    if (mount.root != "/") {
      bool inside = path.compare(0, mount.root.size(), mount.root) == 0 &&
                    (path.size() == mount.root.size() || path[mount.root.size()] == '/');
      if (!inside) return std::nullopt;
      path = path.substr(mount.root.size());
    }
    return path.empty() || path == "/" ? mount.mount_point : mount.mount_point + path;
  }
  return std::nullopt;
}

std::string CgroupName(std::string_view run_key) {
  return std::string(kNamePrefix) + std::string(run_key);
}

namespace {

Result<std::string> OwnFolder() {
  auto mount = OurMount();
  if (!mount) return NotFound("no cgroup v2 hierarchy is mounted");
  TENON_TRY(std::string proc_cgroup, ReadFile("/proc/self/cgroup"));
  auto ours = CgroupFolder(*mount, proc_cgroup);
  if (!ours) return NotFound("our own cgroup is outside of " + mount->mount_point);
  return *ours;
}

bool IsRunGroup(std::string_view name) {
  if (!name.starts_with(kNamePrefix)) return false;
  name.remove_prefix(kNamePrefix.size());
  return name.size() == kKeyLength &&
         name.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
}

// Whether `fd` is still what the path names.
bool IsAt(int fd, const std::string& path) {
  struct stat held {
  }, there{};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

bool RemoveIfDead(const std::string& folder) {
  if (!CgroupProcesses(folder).empty()) return false;
  auto fd = OpenFile(folder, O_RDONLY | O_DIRECTORY);
  if (!fd.ok() || ::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) return false;
  for (const std::string& below : Subfolders(folder)) RemoveCgroup(below);
  return ::rmdir(folder.c_str()) == 0;
}

}  // namespace

Result<HeldCgroup> MakeAndHoldRunCgroup(const std::string& run_key) {
  // A cleanup may remove the group before we hold its lock; then it is made again.
  for (int tries = 0; tries < 3; ++tries) {
    HeldCgroup held;
    TENON_TRY(held.folder, MakeRunCgroup(run_key));
    auto opened = OpenFile(held.folder, O_RDONLY | O_DIRECTORY);
    if (!opened.ok()) continue;
    held.fd = std::move(*opened);
    // Where the kernel cannot lock the folder, RemoveDeadCgroups() cannot lock it either, and lets
    // it be.
    (void)::flock(held.fd.get(), LOCK_SH);
    if (IsAt(held.fd.get(), held.folder)) return held;
  }
  return Unavailable("the run's cgroup is removed as soon as it is made");
}

int RemoveDeadCgroupsBelow(const std::string& folder, int depth) {
  int removed = 0;
  for (const std::string& below : Subfolders(folder)) {
    if (IsRunGroup(BaseName(below))) {
      removed += RemoveIfDead(below) ? 1 : 0;
    } else if (depth > 1) {
      removed += RemoveDeadCgroupsBelow(below, depth - 1);
    }
  }
  return removed;
}

int RemoveDeadCgroups(bool everywhere) {
  if (everywhere) {
    auto mount = OurMount();
    return mount ? RemoveDeadCgroupsBelow(mount->mount_point, kSearchDepth) : 0;
  }
  auto ours = OwnFolder();
  return ours.ok() ? RemoveDeadCgroupsBelow(*ours, 1) : 0;
}

Result<std::string> MakeRunCgroup(const std::string& run_key) {
  TENON_TRY(const std::string ours, OwnFolder());
  std::string folder = ours + "/" + CgroupName(run_key);
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return FromErrno("make cgroup " + folder, errno);
  }
  return folder;
}

std::string FindRunCgroup(const std::string& run_key) {
  auto mount = OurMount();
  if (!mount) return "";
  return Search(mount->mount_point, CgroupName(run_key), kSearchDepth);
}

std::vector<pid_t> CgroupProcesses(const std::string& folder) {
  std::vector<pid_t> pids;
  if (auto text = ReadFile(folder + "/cgroup.procs"); text.ok()) {
    for (const std::string& line : Split(*text, '\n')) {
      // 0 stands for a process of another pid namespace, which we could not signal anyway.
      if (pid_t pid = static_cast<pid_t>(std::atol(line.c_str())); pid > 0) pids.push_back(pid);
    }
  }
  for (const std::string& below : Subfolders(folder)) {
    std::vector<pid_t> more = CgroupProcesses(below);
    pids.insert(pids.end(), more.begin(), more.end());
  }
  return pids;
}

bool KillCgroup(const std::string& folder) {
  auto fd = OpenFile(folder + "/cgroup.kill", O_WRONLY);
  return fd.ok() && WriteAll(fd->get(), "1").ok();
}

namespace {

// Whether the number behind "oom_kill " in a file of the memory controller is above 0.
bool CountsKills(const std::string& path) {
  auto text = ReadFile(path);
  if (!text.ok()) return false;
  for (const std::string& line : Split(*text, '\n')) {
    if (line.compare(0, 9, "oom_kill ") == 0) return std::atoll(line.c_str() + 9) > 0;
  }
  return false;
}

}  // namespace

bool CgroupOutOfMemory(const std::string& folder) { return CountsKills(folder + "/memory.events"); }

GroupMemory OwnGroupMemory(const std::string& mount_point) {
  GroupMemory memory;
  memory.out_of_memory = CountsKills(mount_point + "/memory.events") ||
                         CountsKills(mount_point + "/memory/memory.oom_control");
  for (const char* file : {"/memory.peak", "/memory/memory.max_usage_in_bytes"}) {
    if (memory.peak_bytes > 0) break;
    memory.peak_bytes = std::atoll(ReadFile(mount_point + file).value_or("").c_str());
  }
  return memory;
}

void RemoveCgroup(const std::string& folder) {
  for (const std::string& below : Subfolders(folder)) RemoveCgroup(below);
  for (int tries = 0; ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++tries) {
    if (tries == kLeaveTries || !CgroupProcesses(folder).empty()) return;
    ::usleep(kLeaveUs);
  }
}

}  // namespace tenon::executor
