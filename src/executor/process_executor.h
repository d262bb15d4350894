// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_PROCESS_EXECUTOR_H_
#define TENON_EXECUTOR_PROCESS_EXECUTOR_H_

#include <optional>
#include <string>

#include "base/fd.h"
#include "executor/executor.h"
#include "executor/process_tree.h"

namespace tenon::executor {

// The script as a child process: in a session of its own, in a cgroup of its own where we may make
// one. Makes the calling program the reaper of everything the script orphans, and waits for every
// child of the program: nobody else in it may have children.
class ProcessExecutor : public Executor {
 public:
  ProcessExecutor() = default;
  ~ProcessExecutor() override;  // removes the cgroup if it is empty; ends nothing

  Result<pid_t> Start(const ExecRequest& request) override;
  void Signal(int signal) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override;
  run::Proof EndAll(bool thorough) override;
  pid_t pid() const override { return pid_; }
  std::string cgroup() const override { return cgroup_; }

  // For tests: act as on a machine where no cgroup can be made.
  void DisableCgroup() { use_cgroup_ = false; }

 private:
  Result<pid_t> SpawnInCgroup(SpawnOptions options);
  Result<pid_t> SpawnAndEnter(SpawnOptions options);
  void LeaveCgroup();
  TreeQuery Query() const;
  // No child and nobody in the cgroup: as the reaper of every orphan we would have one.
  bool NobodyLeft();

  bool use_cgroup_ = true;
  pid_t pid_ = 0;
  std::string run_key_;
  std::string cgroup_;
  UniqueFd cgroup_fd_;  // its folder, held as long as the group is in use
  uint64_t our_start_ticks_ = 0;
  bool reaper_ = false;
  bool reaped_ = false;     // the script itself
  bool childless_ = false;  // wait4 has said so
  int64_t peak_rss_bytes_ = 0;
  ProcessSet signaled_;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_PROCESS_EXECUTOR_H_
