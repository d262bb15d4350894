// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_PROCESS_SCRIPT_H_
#define TENON_EXECUTOR_PROCESS_SCRIPT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"
#include "executor/process_tree.h"
#include "executor/script.h"

namespace tenon::executor {

struct ProcessRequest {
  std::vector<std::string> argv;
  std::string cwd;
  Environment env;  // TENON_RUN_KEY is added
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::optional<Credentials> user;  // absent: ours
};

// The record of a script that was started as that process just now.
run::ScriptStarted StartedAs(pid_t pid, std::vector<std::string> argv);

// What of a run a ProcessScript stands for.
enum class Part {
  kWhole,      // every process of the run is its own; they get a cgroup where we may make one
  kOneOfMany,  // one of several that a launcher has started: only what descends from us is its own
};

// The script as a child process, in a session of its own. Makes the calling program the reaper of
// everything the script orphans, and waits for every child of the program: nobody else in it may
// wait for children.
class ProcessScript : public Script {
 public:
  explicit ProcessScript(std::string run_key, Part part = Part::kWhole)
      : part_(part), use_cgroup_(part == Part::kWhole), run_key_(std::move(run_key)) {}
  ~ProcessScript() override;  // removes the cgroup if it is empty; ends nothing

  // With standard input from /dev/null, once. An Error means that nothing runs.
  Result<pid_t> Start(const ProcessRequest& request);
  void Signal(int signal) override;
  void LeaveOut(const ProcessId& process) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override;
  run::Proof EndAll(bool thorough) override;
  pid_t pid() const { return pid_; }                     // 0 before Start
  const std::string& cgroup() const { return cgroup_; }  // its folder, "" = none

  // For tests: act as on a machine where no cgroup can be made.
  void DisableCgroup() { use_cgroup_ = false; }

 private:
  Result<pid_t> SpawnInCgroup(SpawnOptions options);
  Result<pid_t> SpawnAndEnter(SpawnOptions options);
  void LeaveCgroup();
  TreeQuery Query() const;
  // No child and nobody in the cgroup: as the reaper of every orphan we would have one.
  bool NobodyLeft();

  const Part part_;
  bool use_cgroup_;
  const std::string run_key_;
  pid_t pid_ = 0;
  std::string cgroup_;
  UniqueFd cgroup_fd_;  // its folder, held as long as the group is in use
  bool reaper_ = false;
  bool reaped_ = false;     // the script itself
  bool childless_ = false;  // wait4 has said so
  int64_t peak_rss_bytes_ = 0;
  ProcessSet signaled_;
  ProcessSet apart_;  // LeaveOut()
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_PROCESS_SCRIPT_H_
