// SPDX-License-Identifier: Apache-2.0
// Everything between "we have a spec" and "the script can be started": the copy of the project, the
// shim, the shared folder, the environment, the interpreter.
#ifndef TENON_RUNNER_PREPARE_H_
#define TENON_RUNNER_PREPARE_H_

#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "run/event.h"
#include "runner/request.h"

namespace tenon::runner {

struct Prepared {
  std::vector<std::string> argv;
  Environment env;
  std::vector<run::Step> steps;
  std::vector<run::Notice> notices;
};

// Reads and writes files only; may run on any thread. Repeatable: what an earlier try left in the
// run's working directory is removed first. Errors are for people.
Result<Prepared> Prepare(const StartRequest& request);

// The folder of the Python shim below `home`, made on first use and shared by all runs of this
// version. Every file in it is whole, and all are there when this returns.
Result<std::string> EnsureShim(const std::string& home);

// `~` and `~/x` with HOME of `environment`; anything else as it is.
Result<std::string> ExpandHome(const std::string& path, const Environment& environment);

// Finds the interpreter `wanted` names: a path (from `cwd` if relative), or a command on PATH.
// `python` that is not there becomes `python3`, with a notice.
Result<std::string> FindPython(const std::string& wanted, const Environment& environment,
                               const std::string& cwd, std::vector<run::Notice>* notices);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_PREPARE_H_
