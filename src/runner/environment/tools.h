// SPDX-License-Identifier: Apache-2.0
// What a machine has to make environments with: interpreters, uv, conda, py-rattler. Fetches
// private copies of uv and py-rattler.
#ifndef TENON_RUNNER_ENVIRONMENT_TOOLS_H_
#define TENON_RUNNER_ENVIRONMENT_TOOLS_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/result.h"
#include "environment/python.h"

namespace tenon::runner {

// What all calls of this file need.
struct ToolBox {
  std::string tools;  // our folder of tools
  Environment env;    // the build's variables; PATH, HOME and PYENV_ROOT matter here
  std::vector<std::string> masked;
  const std::atomic<bool>& stop;
};

// Runs one interpreter to ask about it; kNotFound when it does not answer like a Python.
Result<environment::Interpreter> AskInterpreter(const ToolBox& box, const std::string& path);

// Interpreters on PATH (python3, python, python3.N), then pyenv's. An interpreter whose name shows
// that it can't match `constraint` is not run. Each one costs a process, so the search ends after
// the first that is `enough`.
using Enough = std::function<bool(const environment::Interpreter&)>;
std::vector<environment::Interpreter> FindInterpreters(
    const ToolBox& box, const environment::PythonConstraint& constraint,
    const Enough& enough = nullptr);

// The newest uv below `tools`; "" = none.
std::string FindToolsUv(const std::string& tools);

// micromamba, mamba or conda on PATH; "" = none.
std::string FindCondaTool(const Environment& env);

// Takes a lock; checks `stop` while it waits (kUnavailable "stopped").
Result<FileLock> TakeLock(const std::string& path, const std::atomic<bool>& stop);

// An interpreter with py-rattler, in `tools` (or in `scratch` where `tools` can't be written). Made
// if it does not exist. kNotFound: no Python of 3.10 or later. kUnavailable: py-rattler could not
// be installed.
Result<std::string> EnsureRattler(const ToolBox& box, const std::string& uv,
                                  const std::string& scratch);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_TOOLS_H_
