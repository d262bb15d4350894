// SPDX-License-Identifier: Apache-2.0
// From what was typed and what the files say to one plain value in which every setting remembers
// where it came from. Precedence: option, then .runconfig, then .compute, then default.
#ifndef TENON_PROJECT_RESOLVE_H_
#define TENON_PROJECT_RESOLVE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/origin.h"
#include "project/project.h"
#include "run/spec.h"

namespace tenon::project {

// What was typed, as typed.
struct Request {
  std::string cwd;                               // absolute
  std::optional<std::string> project_dir;        // --project
  std::optional<std::string> run_configuration;  // -c
  std::optional<std::string> target;             // -t
  std::optional<std::string> conda_file;         // -d
  std::optional<std::string> spark_file;         // -s
  std::optional<std::string> script;             // absent: the ArgumentVector is used
  std::vector<std::string> arguments;            // everything behind the script
  std::vector<std::pair<std::string, std::string>> environment;  // --env NAME=VALUE
  std::optional<std::string> gpus;                               // --gpus
  // To look at the settings, not to run: no script is needed, and what stops a run (PySpark, a
  // target that is unfinished) becomes a notice.
  bool only_look = false;
};

struct Resolved {
  Project project;
  Setting<std::string> run_configuration;  // its name
  Setting<Framework> framework;
  Setting<std::string> script;  // relative to the root, forward slashes
  Setting<std::vector<std::string>> arguments;
  Setting<std::string> target_name;
  Target target;                    // the settings of that target
  EnvironmentSettings environment;  // of the run configuration, then of options; names once
  Setting<std::string> conda_file;  // relative to the root
  Setting<std::string> spark_file;
  Setting<bool> prepare_environment;
  Setting<bool> tracked_run;
  Setting<bool> use_sampling;
  Setting<std::string> gpus;  // --gpus, else of the target; forms of run::ContainerSpec
  // The runner makes the environment: containers, unless the target says userManagedEnvironment;
  // the others where it says false.
  bool managed_environment = false;
  run::Packages packages;  // of conda_file, when managed
  // Why the packages cannot be read; only with only_look, else Resolve returns it.
  std::optional<Error> packages_error;
  std::vector<std::string> notices;  // for the user, once each
};

// Reads everything the run needs. Errors point at the file and line or name the option, and say
// what to write instead. PySpark, said or implied by a missing Framework, is an error until Spark
// is there. Targets of every type are read; whether this version can run one is CheckSupported's
// affair.
Result<Resolved> Resolve(const Request& request);

// kInvalid when this version cannot run that type of target. What only_look has let pass is said
// here too: an unfinished target, packages that cannot be read.
Status CheckSupported(const Resolved& resolved);

// Fills what the project knows: who (project, project_id), what, where and how. Key, id, number,
// user, trees, git, secrets and times are the caller's. shared_directory gets the whole path, parts
// included, with a slash at the end and `~` left for the host.
run::RunSpec ToRunSpec(const Resolved& resolved);

// A row of `--explain`.
struct Explanation {
  std::string setting;  // "target", "pythonLocation", "EnvironmentVariables.NAME"
  std::string value;
  std::string origin;
};
// Every setting that matters to a target of that type, in a fixed order.
std::vector<Explanation> Explain(const Resolved& resolved);

}  // namespace tenon::project

#endif  // TENON_PROJECT_RESOLVE_H_
