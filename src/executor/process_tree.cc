// SPDX-License-Identifier: Apache-2.0
#include "executor/process_tree.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "executor/cgroup.h"
#include "executor/run_mark.h"
#include "run/env_vars.h"

namespace tenon::executor {
namespace {

// An environment can be a quarter of the stack limit long; usual ones are a few KB.
constexpr size_t kMaxEnviron = 8u << 20;
constexpr size_t kMaxLimits = 64u << 10;
constexpr int kMaxFreezeRounds = 20;

// kGivenUp: the process may have had our mark.
enum class Mark { kNone, kOurs, kForeign, kUnreadable, kGivenUp };

struct Seen {
  TreeProcess process;
  pid_t parent = 0;
  char state = '?';
  Mark mark = Mark::kNone;
  bool in_cgroup = false;
  std::optional<bool> belongs;  // worked out on demand
};
using Table = std::map<pid_t, Seen>;

// A process whose first thread has ended is shown as a zombie, but lives as long as another thread
// does. Returns the folder of a living thread, to read instead of the process's own; "" = no thread
// lives.
std::string LivingThread(const std::string& folder) {
  for (const std::string& thread : ListDir(folder + "/task").value_or({})) {
    std::string path = folder + "/task/" + thread;
    auto text = ReadFile(path + "/stat", 65536);
    if (!text.ok()) continue;
    const size_t bracket = text->rfind(") ");
    if (bracket == std::string::npos || bracket + 2 >= text->size()) continue;
    const char state = (*text)[bracket + 2];
    if (state != 'Z' && state != 'X') return path;
  }
  return "";
}

std::optional<Seen> ReadStat(const std::string& folder, pid_t pid) {
  auto text = ReadFile(folder + "/stat", 65536);
  if (!text.ok()) return std::nullopt;
  size_t bracket = text->rfind(") ");  // the name before it may hold anything
  if (bracket == std::string::npos) return std::nullopt;
  std::vector<std::string> fields = Split(std::string_view(*text).substr(bracket + 2), ' ');
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  Seen seen;
  seen.state = fields[0][0];
  seen.parent = static_cast<pid_t>(std::atol(fields[1].c_str()));
  seen.process.pid = pid;
  seen.process.group = static_cast<pid_t>(std::atol(fields[2].c_str()));
  seen.process.start_ticks = std::strtoull(fields[19].c_str(), nullptr, 10);
  return seen;
}

Mark ReadEnvironmentMark(const std::string& folder, const std::string& run_key) {
  auto text = ReadFile(folder + "/environ", kMaxEnviron);
  if (!text.ok()) {
    return text.error().kind == ErrorKind::kDenied ? Mark::kUnreadable : Mark::kNone;
  }
  std::string name = std::string(run::env::kRunKey) + "=";
  std::string_view rest = *text;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\0'), rest.size());
    if (rest.substr(0, name.size()) == name) {
      return rest.substr(name.size(), end - name.size()) == run_key ? Mark::kOurs : Mark::kForeign;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Mark::kNone;
}

// Which run the limit and the environment of a process name. If either names another run, the
// process is of that run.
Mark ReadMark(const std::string& folder, const TreeQuery& query) {
  auto limits = ReadFile(folder + "/limits", kMaxLimits);
  const RunMark limit = limits.ok() ? ReadRunMark(*limits, query.run_key) : RunMark::kUnknown;
  if (limit == RunMark::kForeign) return Mark::kForeign;
  const Mark named = ReadEnvironmentMark(folder, query.run_key);
  if (named == Mark::kForeign) return Mark::kForeign;
  if (limit == RunMark::kOurs) return Mark::kOurs;
  // Every process of a marked run has the mark. This one has not, so it does not matter whether its
  // environment can be read.
  if (named == Mark::kOurs || !query.marked || limit != RunMark::kNone) return named;
  return CouldHaveGivenUpMark(*limits) ? Mark::kGivenUp : Mark::kNone;
}

// Whether a process whose environment we may not read could be of a run of ours: it is our user's,
// or we are root, whose scripts may become any user.
bool CouldBeOurs(const std::string& folder) {
  uid_t us = ::geteuid();
  if (us == 0) return true;
  auto text = ReadFile(folder + "/status", 65536);
  if (!text.ok()) return false;
  size_t line = text->find("\nUid:\t");
  return line != std::string::npos &&
         std::strtoul(text->c_str() + line + 6, nullptr, 10) == static_cast<unsigned long>(us);
}

bool IsNumber(const std::string& name) {
  return !name.empty() && name.size() < 10 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); });
}

Result<Table> ReadTable(const TreeQuery& query) {
  Table table;
  TENON_TRY(std::vector<std::string> names, ListDir(query.proc));
  for (const std::string& name : names) {
    if (!IsNumber(name)) continue;
    pid_t pid = static_cast<pid_t>(std::atol(name.c_str()));
    auto seen = ReadStat(query.proc + "/" + name, pid);
    if (!seen || seen->process.start_ticks < query.not_before_ticks) continue;
    std::string folder = query.proc + "/" + name;
    if (seen->state == 'Z' || seen->state == 'X') folder = LivingThread(folder);
    if (folder.empty()) continue;
    seen->mark = ReadMark(folder, query);
    table.emplace(pid, *seen);
  }
  return table;
}

// Whether the process or one of its ancestors is left out of the run.
bool IsApart(const Table& table, const Seen& seen, const TreeQuery& query) {
  const Seen* next = &seen;
  for (size_t steps = 0; steps < table.size(); ++steps) {
    if (query.apart.contains({next->process.pid, next->process.start_ticks})) return true;
    const auto parent = table.find(next->parent);
    if (parent == table.end()) return false;
    next = &parent->second;
  }
  return false;
}

bool Belongs(Table& table, pid_t pid, const TreeQuery& query) {
  auto found = table.find(pid);
  if (found == table.end()) return false;
  Seen& seen = found->second;
  if (seen.belongs) return *seen.belongs;
  seen.belongs = false;  // ends a cycle, which a table read over time may have
  if (!query.apart.empty() && IsApart(table, seen, query)) return false;
  const bool marked = seen.mark == Mark::kOurs && !query.descendants_only;
  bool belongs =
      seen.mark != Mark::kForeign &&
      (marked || seen.in_cgroup || (query.supervisor > 0 && seen.parent == query.supervisor) ||
       Belongs(table, seen.parent, query));
  return *(seen.belongs = belongs);
}

void Pause(int64_t us) {
  timespec pause{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000};
  ::nanosleep(&pause, nullptr);
}

// Stops all processes before the first is killed: a tree that forks faster than we scan would
// otherwise outrun us. Returns the last scan.
TreeScan Freeze(const TreeQuery& query, ProcessSet* signaled) {
  ProcessSet stopped;
  TreeScan scan = ScanTree(query);
  for (int round = 0; round < kMaxFreezeRounds; ++round) {
    size_t before = stopped.size();
    SignalProcesses(scan.processes, SIGSTOP, &stopped);
    if (stopped.size() == before) break;
    scan = ScanTree(query);
  }
  signaled->insert(stopped.begin(), stopped.end());
  return scan;
}

}  // namespace

std::string HiddenByProc(std::string_view mountinfo, uid_t uid) {
  if (uid == 0) return "";
  std::string hidden;
  for (const std::string& line : Split(mountinfo, '\n')) {
    size_t dash = line.find(" - proc ");
    if (dash == std::string::npos) continue;
    std::vector<std::string> fields = Split(line.substr(0, dash), ' ');
    if (fields.size() < 5 || fields[4] != "/proc") continue;
    hidden.clear();  // a later mount on the same place covers the earlier
    size_t option = line.find("hidepid=", dash);
    if (option == std::string::npos) continue;
    std::string value = line.substr(option, line.find_first_of(", ", option) - option);
    if (value == "hidepid=0" || value == "hidepid=off") continue;
    hidden = "/proc is mounted with " + value + ": processes of other users could not be seen";
  }
  return hidden;
}

TreeScan ScanTree(const TreeQuery& query) {
  TreeScan scan;
  auto table = ReadTable(query);
  if (!table.ok() || !Exists(query.proc + "/self/stat")) {
    scan.looked = false;
    scan.remark = query.proc + " does not show the processes of this machine";
    if (!table.ok()) return scan;
  } else if (auto mountinfo = ReadFile("/proc/self/mountinfo"); mountinfo.ok()) {
    scan.remark = HiddenByProc(*mountinfo, ::geteuid());
  }
  if (!query.cgroup.empty()) {
    for (pid_t pid : CgroupProcesses(query.cgroup)) {
      if (auto found = table->find(pid); found != table->end()) found->second.in_cgroup = true;
    }
  }
  // A living supervisor shows its descendants, and a cgroup its members. Without both, only marks
  // and environments tell.
  const bool marks_alone = query.supervisor == 0 && query.cgroup.empty();
  uint64_t given_up = 0;
  for (auto& [pid, seen] : *table) {
    if (pid == ::getpid()) continue;
    if (Belongs(*table, pid, query)) {
      scan.processes.push_back(seen.process);
    } else if (seen.mark == Mark::kForeign) {
      scan.foreign = true;
    } else if (seen.mark == Mark::kUnreadable &&
               CouldBeOurs(query.proc + "/" + std::to_string(pid))) {
      ++scan.unseen;
    } else if (seen.mark == Mark::kGivenUp && marks_alone &&
               CouldBeOurs(query.proc + "/" + std::to_string(pid))) {
      ++given_up;
    }
  }
  auto add = [&scan](const std::string& words) {
    scan.remark += (scan.remark.empty() ? "" : "; ") + words;
  };
  if (scan.unseen > 0) {
    add("the environment of " + Count(static_cast<uint64_t>(scan.unseen), "process", "processes") +
        " could not be read");
  }
  if (given_up > 0) {
    add("whether " + Count(given_up, "process", "processes") +
        " with a lowered limit on file locks " + (given_up == 1 ? "is" : "are") +
        " of the run could not be seen");
  }
  if (marks_alone && !query.marked) {
    add("a process that has cleared its environment could not be seen");
  }
  return scan;
}

void SignalProcesses(const std::vector<TreeProcess>& processes, int signal, ProcessSet* signaled) {
  for (const TreeProcess& process : processes) {
    auto now = IdentifyProcess(process.pid);
    if (now && now->start_ticks != process.start_ticks) continue;
    if (!signaled->insert({process.pid, process.start_ticks}).second && signal == SIGSTOP) continue;
    ::kill(process.pid, signal);
  }
}

run::Proof EndTree(const TreeQuery& query, int64_t limit_us, ProcessSet* signaled) {
  int64_t deadline = SystemClock().MonotonicUs() + limit_us;
  TreeScan scan = Freeze(query, signaled);
  for (int64_t pause_us = 500; !scan.processes.empty();
       pause_us = std::min<int64_t>(pause_us * 2, 50'000)) {
    if (!query.cgroup.empty() && !scan.foreign) KillCgroup(query.cgroup);
    SignalProcesses(scan.processes, SIGKILL, signaled);
    if (SystemClock().MonotonicUs() >= deadline) break;
    Pause(pause_us);
    scan = ScanTree(query);
  }
  run::Proof proof;
  proof.method = query.cgroup.empty() ? "scan" : "cgroup";
  proof.left = static_cast<int64_t>(scan.processes.size());
  proof.ended = std::max<int64_t>(0, static_cast<int64_t>(signaled->size()) - proof.left);
  proof.unseen = scan.unseen;
  proof.remark = scan.remark;
  proof.gpu = GpuRemark();
  return proof;
}

std::string GpuRemark() {
  if (!Exists("/dev/nvidia0") && !Exists("/proc/driver/nvidia")) return "no GPU on this machine";
  return "not checked in this version";
}

}  // namespace tenon::executor
