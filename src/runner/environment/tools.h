// SPDX-License-Identifier: Apache-2.0
// What a machine has to make environments with: interpreters, uv, conda, py-rattler; and getting
// the ones that can be had privately.
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

// Who asks, for every call here.
struct ToolBox {
  std::string tools;  // our folder of tools
  Environment env;    // of the build; PATH and HOME are looked at
  std::vector<std::string> masked;
  const std::atomic<bool>& stop;
};

// Asks one interpreter; kNotFound when it cannot be started or does not answer.
Result<environment::Interpreter> AskInterpreter(const ToolBox& box, const std::string& path);

// Interpreters on PATH (python3, python, python3.N) and pyenv's, PATH's first. Those whose names
// tell that they can't match `constraint` are not asked; each costs a process, so none is asked
// after the first that is `enough`.
using Enough = std::function<bool(const environment::Interpreter&)>;
std::vector<environment::Interpreter> FindInterpreters(
    const ToolBox& box, const environment::PythonConstraint& constraint,
    const Enough& enough = nullptr);

// The newest uv below `tools`; "" = none.
std::string FindToolsUv(const std::string& tools);

// micromamba, mamba or conda on PATH; "" = none.
std::string FindCondaTool(const Environment& env);

// Takes a lock, asking now and then whether to stop.
Result<FileLock> TakeLock(const std::string& path, const std::atomic<bool>& stop);

// An interpreter with py-rattler, below `tools` (where that can't be written: below `scratch`);
// made when it is not there. kNotFound: no Python of 3.10 or later; kUnavailable: not to be had.
Result<std::string> EnsureRattler(const ToolBox& box, const std::string& uv,
                                  const std::string& scratch);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_TOOLS_H_
