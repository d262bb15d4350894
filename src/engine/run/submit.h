// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_SUBMIT_H_
#define TENON_ENGINE_RUN_SUBMIT_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "journal/fold.h"
#include "run/spec.h"
#include "snapshot/freeze/freeze.h"

namespace tenon::engine {

struct Secret {
  std::string name;
  std::string value;
};

// How a project folder is frozen, by the rules of design § 14. The caller hands in what only
// `project` knows.
struct ProjectFolder {
  std::string root;
  // Takes the secret out of a .compute file's bytes (project::RedactPassword).
  std::function<std::string(std::string_view)> redact_compute;
};
snapshot::FreezeOptions FreezeOptionsFor(const Context& context, const ProjectFolder& folder);

struct SubmitRequest {
  ProjectFolder folder;
  run::RunSpec spec;        // without key, id, number, trees and git: Submit fills them in
  Environment environment;  // what the script inherits (the submitting shell's)
  std::vector<Secret> secrets;
  std::vector<run::Notice> notices;  // recorded with the run and reported
  bool read_all = false;             // read every file, also those that seem not to have changed
};

// Freezes the project, records the run and starts its runner. Returns the run id; from then on the
// run goes on whatever happens to this process. If a recorded run can't be started, it gets the end
// Failed (never started) with the reason; if it is not known whether it was started, it stays open.
// Damage in our store that is noticed during the submit is healed from the project. Damage that
// only the run's machine can notice ends the run (run::IsDamagedSnapshot); another Submit() with
// `read_all` heals it.
Result<std::string> Submit(Context& context, SubmitRequest request, Reporter& reporter);

// Called with a run's id when the run is recorded but not started. An Error prevents the start.
using BeforeStart = std::function<Status(const std::string& run_id)>;

struct RerunRequest {
  std::string run_id;
  std::optional<std::vector<std::string>> arguments;  // nullopt: those of the first run
  Environment environment;
  std::vector<Secret> secrets;  // must have every name that the first run had
  std::optional<int64_t> grace_us, timeout_us;
  bool refresh_environment = false;
  bool keep_on_fail = false;
  std::optional<int64_t> retries;
  bool in_its_place = false;        // after a restart of the machine: only one client may do it
  std::optional<std::string> gpus;  // as in run::ContainerSpec; nullopt: as before
  ProjectFolder folder;             // damage in our store is healed from it; its root "": no folder
  BeforeStart before_start;
};

// The step in a run's journal that says that another machine has taken the run over.
inline constexpr std::string_view kHandOver = "hand-over";
bool WasHandedOver(const journal::RunView& run);

// Runs the snapshot of a recorded run again, as a new run. Returns the new run's id.
Result<std::string> Rerun(Context& context, RerunRequest request, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_SUBMIT_H_
