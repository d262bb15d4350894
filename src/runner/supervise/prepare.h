// SPDX-License-Identifier: Apache-2.0
// What every script needs before it can start, whatever executor runs it: the copy of the project,
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

// Puts the project's files into the run's working directory. First removes what an earlier try left
// there, so it may be repeated. Reports what happens through `handover`. May run on any thread.
// Error messages are for people.
Status UnpackProject(const StartRequest& request, Handover& handover);

// A script's path as an argument that no interpreter takes for an option.
std::string ScriptWord(const std::string& script);

// Scripts ending in .sh are run with sh, all others with Python.
bool IsShellScript(std::string_view script);

// Removes the folders `caches` if the machine was restarted since the last call for `folder`.
// Python neither syncs what it compiles to disk nor checks what it finds there, so a power cut may
// leave damaged files.
void DropAfterRestart(const std::string& folder, const std::vector<std::string>& caches);

// The folder of the Python shim below `home`, made on first use and shared by all runs of this
// version. When this returns, every file in it has the right content. Several runners may call it
// at once.
Result<std::string> EnsureShim(const std::string& home);

// Replaces the `~` of `~` and `~/x` by HOME of `environment`; kInvalid if HOME is not set. Returns
// any other path unchanged.
Result<std::string> ExpandHome(const std::string& path, const Environment& environment);

// The shared folder of the target. Made if it is missing. "" when the target has none.
Result<std::string> EnsureSharedFolder(const StartRequest& request);

// Finds the interpreter that `wanted` names: a path (from `cwd` if relative), or a command on PATH.
// "" means `python`. If PATH has no `python`, returns `python3` and adds a notice. kNotFound when
// there is no such program.
Result<std::string> FindPython(const std::string& wanted, const Environment& environment,
                               const std::string& cwd, std::vector<run::Notice>* notices);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_PREPARE_H_
