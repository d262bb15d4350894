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

// The record that the script was started just now as the process `pid`.
run::ScriptStarted StartedAs(pid_t pid, std::vector<std::string> argv);

// Which processes of a run a ProcessScript takes for its own.
enum class Part {
  kWhole,      // all of them; they get a cgroup where we may make one
  kOneOfMany,  // a launcher has started several parts: only our descendants
};

// The script as a child process in a session of its own. Start() makes the calling program a
// subreaper, which inherits every orphan of the script. Reap() waits for every child of the
// program, so nothing else in the program may wait for children.
class ProcessScript : public Script {
 public:
  explicit ProcessScript(std::string run_key, Part part = Part::kWhole)
      : part_(part), use_cgroup_(part == Part::kWhole), run_key_(std::move(run_key)) {}
  ~ProcessScript() override;  // removes the cgroup if it is empty; ends nothing

  // Starts the script with /dev/null as its standard input. Called once. On an Error nothing runs.
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
  // Whether no process of the run is left: no child and nobody in the cgroup. As the subreaper we
  // would have every orphan as a child.
  bool NobodyLeft();

  const Part part_;
  bool use_cgroup_;
  const std::string run_key_;
  pid_t pid_ = 0;
  std::string cgroup_;
  UniqueFd cgroup_fd_;  // its folder, held as long as the group is in use
  bool reaper_ = false;
  bool reaped_ = false;     // Reap() has seen the end of the script itself
  bool childless_ = false;  // wait4 has said that there is no child
  int64_t peak_rss_bytes_ = 0;
  ProcessSet signaled_;
  ProcessSet apart_;  // LeaveOut()
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_PROCESS_SCRIPT_H_
