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

// How a project folder is frozen: the rules of design § 14, with what only `project` knows handed
// in.
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

// Freezes the project, records the run and gets a runner going. After it returns the run goes on
// whatever happens to this process. On an Error after the run id was taken the run is recorded as
// Failed (never started) with the reason. Damage in our store that is noticed here heals from the
// project; what only the machine of the run can notice ends the run (run::IsDamagedSnapshot), and
// another Submit() with `read_all` heals that. Returns the run id.
Result<std::string> Submit(Context& context, SubmitRequest request, Reporter& reporter);

// Hears a run's id when it is recorded and not started yet; an Error keeps it from that.
using BeforeStart = std::function<Status(const std::string& run_id)>;

struct RerunRequest {
  std::string run_id;
  std::optional<std::vector<std::string>> arguments;  // nullopt: the old ones
  Environment environment;
  std::vector<Secret> secrets;  // every name the first run had must be here
  std::optional<int64_t> grace_us, timeout_us;
  bool refresh_environment = false;
  bool keep_on_fail = false;
  std::optional<int64_t> retries;
  bool in_its_place = false;  // after a restart of its machine: once, whichever client does it
  std::optional<std::string> gpus;  // as run::ContainerSpec has it; nullopt: as before
  ProjectFolder folder;  // from which damage in our store heals; its root "": there is none
  BeforeStart before_start;
};

// The step in a run's journal that says: another machine has it.
inline constexpr std::string_view kHandOver = "hand-over";
bool WasHandedOver(const journal::RunView& run);

// Runs a recorded run's snapshot again, as a new run. Returns the new run's id.
Result<std::string> Rerun(Context& context, RerunRequest request, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_SUBMIT_H_
