// SPDX-License-Identifier: Apache-2.0
// One child process of a build: run to its end, heard while it runs, gone with all it started when
// it is told to stop.
#ifndef TENON_RUNNER_ENVIRONMENT_TOOL_PROCESS_H_
#define TENON_RUNNER_ENVIRONMENT_TOOL_PROCESS_H_

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace tenon::runner {

struct ToolRun {
  std::vector<std::string> argv;
  Environment env;
  std::string cwd;
  std::vector<std::string> masked;
  int timeout_ms = 0;  // 0: none
  // Its words as they come, standard output and error together, masked. May be empty.
  std::function<void(std::string_view)> on_output;
};

struct ToolEnd {
  ExitStatus status;
  bool timed_out = false;
  std::string tail;  // the last 64 KiB it wrote, masked
  bool ok() const { return status.code == 0 && status.signal == 0 && !timed_out; }
  std::string How() const;  // "exit code 1", "signal 9"
};

// In a session of its own; when it has ended, or `stop` is set, or this thread dies, whatever is
// left in its process group is killed. `stop`: kUnavailable "stopped".
Result<ToolEnd> RunTool(const ToolRun& tool, const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_TOOL_PROCESS_H_
