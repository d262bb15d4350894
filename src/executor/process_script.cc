// SPDX-License-Identifier: Apache-2.0
#include "executor/process_script.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "executor/cgroup.h"
#include "executor/run_mark.h"
#include "run/env_vars.h"

namespace tenon::executor {
namespace {

constexpr int64_t kEndLimitUs = 10'000'000;

// Like fork(2), but the child is in that cgroup from its first moment. -1 with errno where the
// kernel can't do that.
pid_t CloneIntoCgroup(int cgroup_fd) {
#ifdef SYS_clone3
  // As <linux/sched.h> has it since 5.7; older headers lack the last member.
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
  } arguments = {};
  static_assert(sizeof arguments == 88);
  arguments.flags = 0x200000000ull;  // CLONE_INTO_CGROUP
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<uint64_t>(cgroup_fd);
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
#else
  (void)cgroup_fd;
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

run::ScriptStarted StartedAs(pid_t pid, std::vector<std::string> argv) {
  run::ScriptStarted started;
  started.process = IdentifyProcess(pid).value_or(ProcessId{pid, 0, BootId()});
  started.argv = std::move(argv);
  return started;
}

ProcessScript::~ProcessScript() {
  if (!cgroup_.empty()) RemoveCgroup(cgroup_);
}

Result<pid_t> ProcessScript::Start(const ProcessRequest& request) {
  TENON_CHECK(pid_ == 0);
  reaper_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;

  SpawnOptions options;
  options.argv = request.argv;
  options.cwd = request.cwd;
  options.env = request.env;
  options.env[run::env::kRunKey] = run_key_;
  options.stdout_fd = request.stdout_fd;
  options.stderr_fd = request.stderr_fd;
  options.new_session = true;
  options.user = request.user;
  auto pid = SpawnInCgroup(std::move(options));
  if (!pid.ok()) return std::move(pid).error();
  return pid_ = *pid;
}

Result<pid_t> ProcessScript::SpawnInCgroup(SpawnOptions options) {
  if (use_cgroup_) {
    if (auto held = MakeAndHoldRunCgroup(run_key_); held.ok()) {
      cgroup_ = std::move(held->folder);
      cgroup_fd_ = std::move(held->fd);
      RemoveDeadCgroups(/*everywhere=*/false);
    }
  }
  if (cgroup_.empty()) return Spawn(options);
  // Start the script inside the cgroup where the kernel can (5.7): moving a process later costs up
  // to 15 ms.
  bool born = false;
  SpawnOptions inside = options;
  inside.fork = [&born, fd = cgroup_fd_.get()] {
    pid_t pid = CloneIntoCgroup(fd);
    born = pid >= 0;
    return pid;
  };
  auto pid = Spawn(inside);
  if (born && !pid.ok()) LeaveCgroup();
  if (born) return pid;
  return SpawnAndEnter(std::move(options));
}

Result<pid_t> ProcessScript::SpawnAndEnter(SpawnOptions options) {
  UniqueFd procs, entered, entered_in_child;
  auto opened = OpenFile(cgroup_ + "/cgroup.procs", O_WRONLY);
  int ends[2];
  if (opened.ok() && ::pipe2(ends, O_CLOEXEC) == 0) {
    procs = std::move(*opened);
    entered.Reset(ends[0]);
    entered_in_child.Reset(ends[1]);
    // The child enters the cgroup by itself, before it becomes the script, so no process of the
    // script is outside.
    options.in_child = [into = procs.get(), tell = entered_in_child.get()] {
      if (::write(into, "0", 1) != 1) return;
      ssize_t ignored = ::write(tell, "1", 1);
      (void)ignored;
    };
  }
  auto pid = Spawn(options);
  entered_in_child.Reset();
  char byte = 0;
  bool inside = pid.ok() && entered.valid() && ::read(entered.get(), &byte, 1) == 1;
  if (!inside) LeaveCgroup();
  return pid;
}

void ProcessScript::LeaveCgroup() {
  RemoveCgroup(cgroup_);
  cgroup_fd_.Reset();
  cgroup_.clear();
}

TreeQuery ProcessScript::Query() const {
  TreeQuery query;
  query.run_key = run_key_;
  query.cgroup = cgroup_;
  query.supervisor = ::getpid();
  if (const auto us = IdentifyProcess(query.supervisor)) query.not_before_ticks = us->start_ticks;
  query.marked = HasRunMark(run_key_);
  query.descendants_only = part_ == Part::kOneOfMany;
  query.apart = apart_;
  return query;
}

void ProcessScript::Signal(int signal) {
  if (pid_ == 0 || NobodyLeft()) return;
  // Scan before the first signal, so that all are counted. The process group is signaled in one
  // call, so that no process of it slips through; then those that have left the group.
  TreeScan scan = ScanTree(Query());
  // Once the script is reaped and its process group is empty, another group may get the number.
  bool group_is_ours = !reaped_;
  std::vector<TreeProcess> others;
  for (const TreeProcess& process : scan.processes) {
    if (process.group == pid_) {
      group_is_ours = true;
      signaled_.insert({process.pid, process.start_ticks});
    } else {
      others.push_back(process);
    }
  }
  if (group_is_ours) ::kill(-pid_, signal);
  SignalProcesses(others, signal, &signaled_);
}

void ProcessScript::LeaveOut(const ProcessId& process) {
  apart_.insert({process.pid, process.start_ticks});
}

std::optional<Exit> ProcessScript::Reap() {
  std::optional<Exit> exit;
  for (;;) {
    int status = 0;
    struct rusage usage {};
    pid_t child = ::wait4(-1, &status, WNOHANG, &usage);
    if (child == 0) break;
    if (child < 0) {
      if (errno == EINTR) continue;
      childless_ = errno == ECHILD;
      break;
    }
    const auto is_it = [child](const auto& process) { return process.first == child; };
    if (std::ranges::any_of(apart_, is_it)) continue;
    peak_rss_bytes_ = std::max<int64_t>(peak_rss_bytes_, int64_t{usage.ru_maxrss} * 1024);
    if (child != pid_) continue;
    reaped_ = true;
    exit.emplace();
    exit->status = DecodeWaitStatus(status);
    exit->out_of_memory = !cgroup_.empty() && CgroupOutOfMemory(cgroup_);
  }
  if (exit) exit->peak_rss_bytes = peak_rss_bytes_;
  return exit;
}

bool ProcessScript::NobodyLeft() {
  if (!reaper_ || !childless_) return false;
  return cgroup_.empty() || CgroupProcesses(cgroup_).empty();
}

int64_t ProcessScript::CountLeft() {
  if (pid_ == 0 || NobodyLeft()) return 0;
  return static_cast<int64_t>(ScanTree(Query()).processes.size());
}

run::Proof ProcessScript::EndAll(bool thorough) {
  if (thorough || !NobodyLeft()) {
    // Without /proc we can reach the script's process group only.
    if (pid_ > 0 && !reaped_ && !Exists("/proc/self/stat")) ::kill(-pid_, SIGKILL);
    return EndTree(Query(), kEndLimitUs, &signaled_);
  }
  run::Proof proof;
  proof.method = cgroup_.empty() ? "subreaper" : "cgroup";
  proof.ended = static_cast<int64_t>(signaled_.size());
  proof.gpu = GpuRemark();
  return proof;
}

}  // namespace tenon::executor
