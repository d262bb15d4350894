// SPDX-License-Identifier: Apache-2.0
#include "project/project.h"

#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "project/files/run_configuration.h"
#include "project/files/settings_file.h"
#include "project/files/target.h"

namespace tenon::project {
namespace {

constexpr Key kProjectKeys[] = {{"Id", Expected::kText}, {"Scope", Expected::kText}};

Result<std::string> RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return FromErrno(path, errno);
  return std::string(resolved);
}

std::string ConfigPath(std::string_view root) { return JoinPath(root, kConfigFolder); }

Result<std::string> FindRoot(const std::string& cwd,
                             const std::optional<std::string>& project_dir) {
  if (project_dir) {
    const std::string path = JoinPath(cwd, *project_dir);
    if (!IsDirectory(path)) {
      return NotFound("--project " + *project_dir + ": there is no such folder");
    }
    return RealPath(path);
  }
  TENON_TRY(const std::string here, RealPath(cwd));
  for (std::string folder = here;; folder = DirName(folder)) {
    if (IsDirectory(ConfigPath(folder))) return folder;
    if (folder == "/" || folder.empty()) return here;
  }
}

std::string NameOfFolder(const std::string& root) {
  std::string name;
  for (const char c : ForTerminal(BaseName(root))) {
    name += c == '\n' || c == '\t' || c == '\\' ? '_' : c;
  }
  return name.empty() ? "project" : name;
}

// The part after `/<kind>/` in a Scope; "" when it is missing or is `.` or `..`.
std::string ScopePart(const std::vector<std::string>& parts, std::string_view kind) {
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (ToLower(parts[i]) != kind) continue;
    const std::string& part = parts[i + 1];
    return part == "." || part == ".." ? "" : part;
  }
  return "";
}

Status ReadIdentity(Project* project) {
  const std::string file = ".azureml/project.json";
  project->name = {NameOfFolder(project->root), Origin::Default()};
  project->id = {DerivedId(project->root), Origin::Default()};
  if (!Exists(JoinPath(project->root, file))) return {};
  Result<SettingsFile> loaded = SettingsFile::Load(project->root, file, kProjectKeys);
  if (!loaded.ok()) {
    Error error = std::move(loaded).error();
    if (error.hint.empty()) error.hint = "repair the file, or remove it to go by the folder's name";
    return error;
  }
  const std::vector<std::string> parts = Split(loaded->Text("Scope", "").value, '/');
  const std::string name = ScopePart(parts, "projects");
  if (!name.empty()) project->name = {name, loaded->Text("Scope", "").origin};
  project->account = ScopePart(parts, "accounts");
  project->workspace = ScopePart(parts, "workspaces");
  const Setting<std::string> id = loaded->Text("Id", "");
  if (!id.value.empty()) project->id = {ToLower(id.value), id.origin};
  return {};
}

}  // namespace

std::string DerivedId(std::string_view path) {
  Hash hash = Sha256Of("tenon project " + std::string(path));
  hash.bytes[6] = (hash.bytes[6] & 0x0F) | 0x80;  // version 8: custom
  hash.bytes[8] = (hash.bytes[8] & 0x3F) | 0x80;
  const std::string hex = hash.Hex();
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20, 12);
}

Result<Project> OpenProjectToLook(const std::string& cwd,
                                  const std::optional<std::string>& project_dir,
                                  std::optional<Error>* broken) {
  Project project;
  TENON_TRY(project.root, FindRoot(cwd, project_dir));
  project.has_config = IsDirectory(ConfigPath(project.root));
  Status identity = ReadIdentity(&project);
  if (!identity.ok()) *broken = std::move(identity).error();
  return project;
}

Result<Project> OpenProject(const std::string& cwd, const std::optional<std::string>& project_dir) {
  Project project;
  TENON_TRY(project.root, FindRoot(cwd, project_dir));
  project.has_config = IsDirectory(ConfigPath(project.root));
  TENON_TRY_VOID(ReadIdentity(&project));
  return project;
}

std::vector<std::string> NamesWithEnding(const Project& project, std::string_view ending) {
  std::vector<std::string> names;
  const Result<std::vector<std::string>> files = ListDir(ConfigPath(project.root));
  if (!files.ok()) return names;
  for (const std::string& file : *files) {
    if (file.size() > ending.size() && file.ends_with(ending)) {
      names.push_back(file.substr(0, file.size() - ending.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> ConfigFile(const Project& project, std::string_view name,
                                      std::string_view ending) {
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  const std::string file = JoinPath(kConfigFolder, std::string(name) + std::string(ending));
  if (!Exists(JoinPath(project.root, file))) return std::nullopt;
  return file;
}

std::optional<std::string> RunConfigurationFile(const Project& project, std::string_view name) {
  if (auto file = ConfigFile(project, name, ".runconfig")) return file;
  return ConfigFile(project, name, ".amb");
}

bool IsBuiltInTarget(std::string_view name) { return name == "local" || name == "docker"; }

std::vector<TargetEntry> ListTargets(const Project& project) {
  std::set<std::string> names{"local", "docker"};
  for (std::string& name : NamesWithEnding(project, ".compute")) names.insert(std::move(name));
  std::vector<TargetEntry> entries;
  for (const std::string& name : names) {
    TargetEntry entry{name, ConfigFile(project, name, ".compute").value_or(""), "", std::nullopt};
    Result<Target> target = ReadTarget(project, name);
    if (target.ok()) {
      entry.type = target->type.value;
    } else {
      entry.error = std::move(target).error();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<RunConfigurationEntry> ListRunConfigurations(const Project& project) {
  std::set<std::string> names;
  for (const char* ending : {".runconfig", ".amb"}) {
    for (std::string& name : NamesWithEnding(project, ending)) names.insert(std::move(name));
  }
  std::vector<RunConfigurationEntry> entries;
  for (const std::string& name : names) {
    RunConfigurationEntry entry;
    entry.name = name;
    entry.file = RunConfigurationFile(project, name).value_or("");
    Result<RunConfiguration> configuration = ReadRunConfiguration(project, name);
    if (configuration.ok()) {
      entry.target = configuration->target.value;
      if (configuration->framework.given())
        entry.framework = FrameworkName(configuration->framework.value);
    } else {
      entry.error = std::move(configuration).error();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace tenon::project
