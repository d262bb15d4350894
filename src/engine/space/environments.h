// SPDX-License-Identifier: Apache-2.0
// The environments that runs are made with: what there is, making one beforehand, giving space
// back.
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

// Newest use first. A home that is not there has none, and is not made by looking.
// `host`: of that machine (engine/host/hosts.h); "" = this one.
Result<std::vector<run::ListedEnvironment>> ListEnvironments(Context& context,
                                                             const std::string& host = "");

// The environment whose key begins with `name`. kNotFound with "did you mean", kInvalid when
// several fit (naming them). The answer points into the list.
Result<const run::ListedEnvironment*> FindEnvironment(
    const std::vector<run::ListedEnvironment>& environments, const std::string& name);

// Removes them, by their whole keys; what a run that goes on uses is kept. May be repeated.
Result<run::EnvironmentsAnswer> RemoveEnvironments(Context& context, std::vector<std::string> keys,
                                                   bool dry_run, const std::string& host = "");

struct PreparedEnvironment {
  std::string run_id;                                // under which it was done
  std::optional<run::End> end;                       // nullopt: `stop` was set; the work goes on
  std::optional<run::EnvironmentReady> environment;  // absent when it failed, or nothing is needed
};
// Makes what a run would need and runs nothing: a run without a script, which listings leave out.
// `stop`, if given, ends the watching, not the work.
Result<PreparedEnvironment> PrepareEnvironment(Context& context, SubmitRequest request,
                                               const std::atomic<bool>* stop, Reporter& reporter);

struct PackageChange {
  std::string name;
  std::string before, after;  // versions; "" = not in there
};
// What differs, by name as indexes compare it. Several versions of one name (it happens in conda's
// environments) are compared as one text.
std::vector<PackageChange> DiffPackages(const std::vector<run::InstalledPackage>& before,
                                        const std::vector<run::InstalledPackage>& after);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_SPACE_ENVIRONMENTS_H_
