// SPDX-License-Identifier: Apache-2.0
// The environments that runs are made with: lists them, prepares one beforehand, removes them.
#ifndef TENON_ENGINE_SPACE_ENVIRONMENTS_H_
#define TENON_ENGINE_SPACE_ENVIRONMENTS_H_

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "engine/run/submit.h"
#include "launch/launch.h"
#include "run/environment_record.h"
#include "run/event.h"

namespace tenon::engine {

// The environments of the machine `host` (engine/host/hosts.h; "" = this one), the latest used
// first. A home that does not exist has none, and is not made by looking.
Result<std::vector<run::ListedEnvironment>> ListEnvironments(Context& context,
                                                             const std::string& host = "");

// The environment whose key begins with `name`. The result points into the list. Fails with
// kNotFound and "did you mean", or with kInvalid, naming the candidates, when several fit.
Result<const run::ListedEnvironment*> FindEnvironment(
    const std::vector<run::ListedEnvironment>& environments, const std::string& name);

// Removes environments by their whole keys; those that a live run uses are kept. May be repeated.
Result<run::EnvironmentsAnswer> RemoveEnvironments(Context& context, std::vector<std::string> keys,
                                                   bool dry_run, const std::string& host = "");

struct PreparedEnvironment {
  std::string run_id;                                // the run that prepares it
  std::optional<run::End> end;                       // nullopt: `stop` was set; the work goes on
  std::optional<run::EnvironmentReady> environment;  // absent when it failed or none is needed
};
// Makes the environment that a run would need, but runs nothing: it submits a run without a script,
// which listings leave out. If `stop` is given and set, the call returns; the work goes on.
Result<PreparedEnvironment> PrepareEnvironment(Context& context, SubmitRequest request,
                                               const std::atomic<bool>* stop, Reporter& reporter);

struct PackageChange {
  std::string name;
  std::string before, after;  // versions; "" = not installed
};
// The differences, sorted by name. Names are compared as package indexes do. If a name has several
// versions (possible in conda's environments), they are compared as one text.
std::vector<PackageChange> DiffPackages(const std::vector<run::InstalledPackage>& before,
                                        const std::vector<run::InstalledPackage>& after);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_SPACE_ENVIRONMENTS_H_
