// SPDX-License-Identifier: Apache-2.0
// Runs one child process of a build to its end and passes its output on as it comes. When told to
// stop, ends the process with everything it has started.
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
  // Called with standard output and error together, masked, as they come. May be empty.
  std::function<void(std::string_view)> on_output;
};

struct ToolEnd {
  ExitStatus status;
  bool timed_out = false;
  std::string tail;  // the end of its output, masked: at least the last 64 KiB
  bool ok() const { return status.code == 0 && status.signal == 0 && !timed_out; }
  std::string How() const;  // "exit code 1", "signal 9"
};

// Runs the tool in its own session. When the tool has ended, `stop` is set or the calling thread
// dies, kills whatever is left in its process group. kUnavailable "stopped" when `stop` is set.
Result<ToolEnd> RunTool(const ToolRun& tool, const std::atomic<bool>& stop);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_TOOL_PROCESS_H_
