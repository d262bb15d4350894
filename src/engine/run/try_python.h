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

// The Python that scripts get on a machine where nothing is prepared for them, by the runner's
// rules; it is started, so that the answer is worth something. `location`: pythonLocation of the
// target, "" = the usual one; `project_root`: what a relative path there goes from. `own`: the
// environment of scripts where the machine remembers none of a login. kNotFound: there is no such
// program; kUnavailable: it does not run as a Python.
Result<PythonThere> TryPython(Machine& machine, const std::string& location,
                              const std::string& project_root, const Environment& own);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_TRY_PYTHON_H_
