// SPDX-License-Identifier: Apache-2.0
// Finds the project's folder, its name, and the files in it.
#ifndef TENON_PROJECT_PROJECT_H_
#define TENON_PROJECT_PROJECT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/origin.h"

namespace tenon::project {

inline constexpr std::string_view kConfigFolder = "aml_config";

struct Project {
  std::string root;         // absolute, symlinks resolved
  bool has_config = false;  // the folder aml_config/ exists
  Setting<std::string> name;
  Setting<std::string> id;  // GUID; `experiment_id` in listings
  std::string account;      // from the Scope in project.json; "" when unknown
  std::string workspace;
};

// Opens the folder `project_dir` (relative to `cwd`) if given, else the nearest folder with
// aml_config/ at or above `cwd`, else `cwd` itself. Name and Id come from .azureml/project.json.
// Without that file, the name is the folder's, and the Id is derived from the folder's path, so it
// is always the same. kNotFound: no such folder. kInvalid: project.json is broken.
Result<Project> OpenProject(const std::string& cwd, const std::optional<std::string>& project_dir);

// Like OpenProject, for commands that only look at the files: puts the error of a broken
// project.json into `broken` and uses the folder's name and derived Id.
Result<Project> OpenProjectToLook(const std::string& cwd,
                                  const std::optional<std::string>& project_dir,
                                  std::optional<Error>* broken);

// Derives a GUID from a path. The same path gives the same GUID on every machine.
std::string DerivedId(std::string_view path);

// One file of aml_config/, for listings. A broken file is listed with its error.
struct TargetEntry {
  std::string name;
  std::string file;  // relative to the root; "" when built in
  std::string type;
  std::optional<Error> error;
};
struct RunConfigurationEntry {
  std::string name;
  std::string file;
  std::string target;     // as written; "" when missing
  std::string framework;  // as written; "" when missing
  std::optional<Error> error;
};

// Sorted by name. Includes `local` and `docker` even when they have no file.
std::vector<TargetEntry> ListTargets(const Project& project);
std::vector<RunConfigurationEntry> ListRunConfigurations(const Project& project);

// Names of the files in aml_config/ with that ending, without the ending, sorted.
std::vector<std::string> NamesWithEnding(const Project& project, std::string_view ending);
// "aml_config/NAME.ending" if that file exists, else nullopt. `name` cannot lead out of the folder.
std::optional<std::string> ConfigFile(const Project& project, std::string_view name,
                                      std::string_view ending);
// The file of a run configuration: NAME.runconfig, else NAME.amb (spring 2017); nullopt if neither
// exists.
std::optional<std::string> RunConfigurationFile(const Project& project, std::string_view name);

bool IsBuiltInTarget(std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_PROJECT_H_
