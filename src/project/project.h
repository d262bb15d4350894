// SPDX-License-Identifier: Apache-2.0
// A project is a folder: which one, what it is called, and which files are in it.
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
  bool has_config = false;  // aml_config/ is there
  Setting<std::string> name;
  Setting<std::string> id;  // GUID; experiment_id of listings
  std::string account;      // of project.json's Scope, "" when unknown
  std::string workspace;
};

// The folder `project_dir` (relative to `cwd`) when given, else the nearest folder with aml_config/
// at or above `cwd`, else `cwd` itself. Name and Id come from .azureml/project.json; without it the
// name is the folder's and the Id is derived from its path, the same every time.
// kNotFound: no such folder. kInvalid: project.json is broken.
Result<Project> OpenProject(const std::string& cwd, const std::optional<std::string>& project_dir);

// As OpenProject, but a project.json that cannot be read is left in `broken` and the folder's own
// name and id are taken: for commands that look at the files.
Result<Project> OpenProjectToLook(const std::string& cwd,
                                  const std::optional<std::string>& project_dir,
                                  std::optional<Error>* broken);

// A GUID from a path; the same path gives the same one on every machine.
std::string DerivedId(std::string_view path);

// One file of aml_config/, for listings. A broken one is listed with its error.
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

// Sorted by name. Targets include `local` and `docker` when they have no file.
std::vector<TargetEntry> ListTargets(const Project& project);
std::vector<RunConfigurationEntry> ListRunConfigurations(const Project& project);

// Names in aml_config/ that end so, without the ending, sorted.
std::vector<std::string> NamesWithEnding(const Project& project, std::string_view ending);
// "aml_config/NAME.ending" when that file is there, else nothing. Never leaves the folder.
std::optional<std::string> ConfigFile(const Project& project, std::string_view name,
                                      std::string_view ending);
// The file of a run configuration: NAME.runconfig, or NAME.amb of spring 2017.
std::optional<std::string> RunConfigurationFile(const Project& project, std::string_view name);

bool IsBuiltInTarget(std::string_view name);

}  // namespace tenon::project

#endif  // TENON_PROJECT_PROJECT_H_
