// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/request_options.h"

namespace tenon::cli {
namespace {

constexpr int kPythonTimeoutMs = 60'000;
constexpr const char* kAskVersion =
    "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)";

Result<project::Resolved> ResolveAll(const Session& session, const RequestOptions& options) {
  TENON_TRY(project::Request request, MakeRequest(session, options));
  request.only_look = true;  // no script is needed; what would stop a run is asked for below
  TENON_TRY(project::Resolved resolved, project::Resolve(request));
  if (!resolved.target.wrong_types.empty()) return resolved.target.wrong_types.front();
  if (project::RunConfigurationFile(resolved.project, resolved.run_configuration.value)) {
    TENON_TRY(const auto configuration,
              project::ReadRunConfiguration(resolved.project, resolved.run_configuration.value));
    if (configuration.spark_framework) return *configuration.spark_framework;
  }
  TENON_TRY_VOID(project::CheckSupported(resolved));
  return resolved;
}

// The Python that a run on this machine gets, by the runner's rules.
Result<std::string> FindPython(const Session& session, std::string name) {
  auto get = [&](const char* variable) -> std::string {
    const auto found = session.environment.find(variable);
    return found == session.environment.end() ? "" : found->second;
  };
  if (name.empty()) name = "python";
  if (name == "~" || name.starts_with("~/")) name = get("HOME") + name.substr(1);
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0 && !IsDirectory(name)) return name;
    return NotFound("no Python at " + ForTerminal(name) + " (pythonLocation of the target)")
        .WithHint("set pythonLocation to the path of a Python interpreter, or to python3");
  }
  if (auto found = FindProgram(name, get("PATH"))) return *found;
  if (name == "python") {
    if (auto found = FindProgram("python3", get("PATH"))) return *found;
  }
  return NotFound("no program `" + ForTerminal(name) + "` on PATH (pythonLocation of the target)")
      .WithHint("install Python, or set pythonLocation to its path");
}

Result<int> Act(Session& session, const RequestOptions& options) {
  TENON_TRY(const project::Resolved resolved, ResolveAll(session, options));
  PrintNotices(resolved);
  std::string wanted = resolved.target.python_location.value;
  if (wanted.find('/') != std::string::npos && !wanted.starts_with("~")) {
    wanted = JoinPath(resolved.project.root, wanted);
  }
  TENON_TRY(const std::string python, FindPython(session, wanted));
  auto asked = RunAndCapture({python, "-c", kAskVersion}, "", "", kPythonTimeoutMs, 64u << 10);
  if (!asked.ok()) return std::move(asked).error().Wrap("starting " + ForTerminal(python));
  if (asked->timed_out) {
    return Unavailable(ForTerminal(python) + " has not told its version within a minute");
  }
  const std::vector<std::string> lines = Split(Trim(asked->out), '\n');
  if (asked->status.AsShell() != 0 || lines.size() < 2) {
    return Unavailable(ForTerminal(python) + " is there but does not run as a Python: " +
                       (asked->err.empty() ? "exit code " + std::to_string(asked->status.AsShell())
                                           : ForTerminal(Trim(asked->err))))
        .WithHint("pythonLocation of the target names it");
  }
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"run_configuration", resolved.run_configuration.value},
                                     {"target", resolved.target_name.value},
                                     {"type", resolved.target.type.value},
                                     {"prepared", false},
                                     {"python", json::EncodeBytes(python)},
                                     {"python_version", json::EncodeBytes(lines[0])}});
    return 0;
  }
  PrintOut("nothing to prepare on " + ForTerminal(resolved.target_name.value) +
           ": it uses your own Python as it is\nPython " + ForTerminal(lines[0]) + ": " +
           ForTerminal(python) + "\n");
  return 0;
}

}  // namespace

Command ExperimentPrepareCommand() {
  return {{{"experiment", "prepare"}},
          "Make a target ready for runs, without running anything",
          "A `local` target uses your own Python, so there is nothing to make: the settings are "
          "read and the Python is tried. What would stop a run is said here too, with the exit "
          "code of submit (125).",
          {"tenon experiment prepare -c local", "tenon experiment prepare -t local -c local"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<RequestOptions>();
            AddTargetOptions(app, options.get());
            AddDependencyOptions(app, options.get());
            return [options](Session& session) { return Act(session, *options); };
          },
          /*starts_script=*/true};
}

}  // namespace tenon::cli
