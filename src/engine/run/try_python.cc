// SPDX-License-Identifier: Apache-2.0
#include "engine/run/try_python.h"

#include <vector>

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"

namespace tenon::engine {
namespace {

constexpr int kNotStarted = 126, kNoSuchProgram = 127;  // as env(1) says it
constexpr int kTimeoutMs = 60'000;
constexpr const char* kAsk =
    "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)";

std::vector<std::string> Names(const std::string& location, const std::string& project_root,
                               const Environment& environment) {
  if (location.empty() || location == "python") return {"python", "python3"};
  if (location == "~" || location.starts_with("~/")) {
    return {GetVariable(environment, "HOME") + location.substr(1)};
  }
  if (location.find('/') != std::string::npos) return {JoinPath(project_root, location)};
  return {location};
}

Error NotThere(const Machine& machine, const std::string& name) {
  const std::string what = ForTerminal(name);
  const bool is_path = name.find('/') != std::string::npos;
  return NotFound((is_path ? "no Python at " + what : "no program `" + what + "` on the PATH") +
                  " of " + machine.host().Describe() + " (pythonLocation of the target)")
      .WithHint("install Python there, or set pythonLocation to the path of a Python interpreter");
}

}  // namespace

Result<PythonThere> TryPython(Machine& machine, const std::string& location,
                              const std::string& project_root, const Environment& own) {
  Environment environment = LoginEnvironment(machine.known());
  if (environment.empty()) environment = own;
  const std::vector<std::string> names = Names(location, project_root, environment);
  CaptureResult asked;
  std::string name;
  for (const std::string& next : names) {
    name = next;
    TENON_TRY(asked, machine.host().Run({"/usr/bin/env", "PATH=" + GetVariable(environment, "PATH"),
                                         name, "-c", kAsk},
                                        "", kTimeoutMs));
    if (asked.timed_out || asked.status.code != kNoSuchProgram) break;
  }
  if (asked.timed_out) {
    return Unavailable(ForTerminal(name) + " has not told its version within a minute");
  }
  const int code = asked.status.AsShell();
  if (code == kNoSuchProgram || code == kNotStarted) return NotThere(machine, name);
  const std::vector<std::string> lines = Split(Trim(asked.out), '\n');
  if (code != 0 || lines.size() < 2) {
    return Unavailable(ForTerminal(name) + " is there but does not run as a Python: " +
                       (asked.err.empty() ? "exit code " + std::to_string(code)
                                          : ForTerminal(Trim(asked.err))))
        .WithHint("pythonLocation of the target names it");
  }
  return PythonThere{lines[1].empty() ? name : lines[1], lines[0]};
}

}  // namespace tenon::engine
