// SPDX-License-Identifier: Apache-2.0
// What has to be there before a script can be started, in whatever way: the copy of the project,
// the shim, the shared folder, the interpreter.
#ifndef TENON_RUNNER_SUPERVISE_PREPARE_H_
#define TENON_RUNNER_SUPERVISE_PREPARE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "run/event.h"
#include "runner/supervise/handover.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Puts the project's files into the run's working directory. Tells what happens through `handover`;
// may run on any thread. Repeatable: what an earlier try left there is removed first. Errors are
// for people.
Status UnpackProject(const StartRequest& request, Handover& handover);

// A script's path as a word that no interpreter takes for an option.
std::string ScriptWord(const std::string& script);

// Scripts ending in .sh are run with sh, all others with Python.
bool IsShellScript(std::string_view script);

// Removes `caches` if the machine was started anew since this was last called for `folder`: Python
// does not wait for the disk when it compiles, and believes what it finds.
void DropAfterRestart(const std::string& folder, const std::vector<std::string>& caches);

// The folder of the Python shim below `home`, made on first use and shared by all runs of this
// version. Every file in it is what it has to be when this returns.
Result<std::string> EnsureShim(const std::string& home);

// `~` and `~/x` with HOME of `environment`; anything else as it is.
Result<std::string> ExpandHome(const std::string& path, const Environment& environment);

// The shared folder of the target, made if it is not there; "" when the target has none.
Result<std::string> EnsureSharedFolder(const StartRequest& request);

// Finds the interpreter `wanted` names: a path (from `cwd` if relative), or a command on PATH.
// `python` that is not there becomes `python3`, with a notice.
Result<std::string> FindPython(const std::string& wanted, const Environment& environment,
                               const std::string& cwd, std::vector<run::Notice>* notices);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_PREPARE_H_
