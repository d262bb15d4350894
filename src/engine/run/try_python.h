// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_TRY_PYTHON_H_
#define TENON_ENGINE_RUN_TRY_PYTHON_H_

#include <string>

#include "base/process.h"
#include "base/result.h"
#include "engine/host/machine.h"

namespace tenon::engine {

struct PythonThere {
  std::string path;     // of the interpreter, as it says itself
  std::string version;  // "3.11.2"
};

// Starts the Python that scripts get on a machine when no environment is prepared for them, found
// by the runner's rules, and returns what it says of itself. `location`: pythonLocation of the
// target, "" = the usual Python. `project_root`: base of a relative path in it. `own`: the
// environment to use when no login environment of the machine is remembered. Fails with kNotFound
// when there is no such program, and with kUnavailable when it does not run as a Python.
Result<PythonThere> TryPython(Machine& machine, const std::string& location,
                              const std::string& project_root, const Environment& own);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_TRY_PYTHON_H_
