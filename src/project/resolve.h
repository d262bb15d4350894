// SPDX-License-Identifier: Apache-2.0
// Merges the command line and the files into one value in which every setting remembers where it
// came from. Precedence: option, then .runconfig, then .compute, then default.
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

// The command line as the user typed it.
struct Request {
  std::string cwd;                                               // absolute
  std::optional<std::string> project_dir;                        // --project
  std::optional<std::string> run_configuration;                  // -c
  std::optional<std::string> target;                             // -t
  std::optional<std::string> conda_file;                         // -d
  std::optional<std::string> spark_file;                         // -s
  std::optional<std::string> script;                             // absent: from the ArgumentVector
  std::vector<std::string> arguments;                            // everything after the script
  std::vector<std::pair<std::string, std::string>> environment;  // --env NAME=VALUE
  std::optional<std::string> gpus;                               // --gpus
  // Look at the settings without running: no script is needed, and what would stop a run (PySpark,
  // an unfinished target) becomes a notice.
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
  EnvironmentSettings environment;  // of the run configuration, overridden by options; unique names
  Setting<std::string> conda_file;  // relative to the root
  Setting<std::string> spark_file;
  Setting<bool> prepare_environment;
  Setting<bool> tracked_run;
  Setting<bool> use_sampling;
  Setting<std::string> gpus;  // from --gpus, else from the target; as in run::ContainerSpec
  // The runner makes the environment. Default for containers, unless userManagedEnvironment is
  // true; for other targets only if it is false. ManagedEnvironment: false in the run configuration
  // turns it off unless the target decides.
  bool managed_environment = false;
  run::Packages packages;  // from conda_file, if managed_environment
  // Why the packages cannot be read. Set only with only_look; without it Resolve returns the error.
  std::optional<Error> packages_error;
  std::vector<std::string> notices;  // for the user, once each
};

// Reads everything that the run needs. Errors name the file and line, or the option, and say what
// to write instead. PySpark (also implied by a missing Framework) is an error until Tenon supports
// Spark. Reads targets of every type; CheckSupported says whether this version can run one.
Result<Resolved> Resolve(const Request& request);

// kInvalid when this version cannot run targets of that type. Also returns the errors that
// only_look has turned into notices: an unfinished target, packages that cannot be read.
Status CheckSupported(const Resolved& resolved);

// Fills in what the project knows: project and project_id, what to run, where and how. The caller
// sets key, id, number, user, trees, git, secrets and times. shared_directory becomes the whole
// path with its parts (shared_folder.h), a slash at the end and `~` left for the host.
run::RunSpec ToRunSpec(const Resolved& resolved);

// One row of `--explain`.
struct Explanation {
  std::string setting;  // "target", "pythonLocation", "EnvironmentVariables.NAME"
  std::string value;
  std::string origin;
};
// All settings that matter for a target of this type, in a fixed order.
std::vector<Explanation> Explain(const Resolved& resolved);

}  // namespace tenon::project

#endif  // TENON_PROJECT_RESOLVE_H_
