// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/uv_lock.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/toml.h"

namespace tenon::project {
namespace {

Result<TomlFile> ReadPart(const std::string& root, const std::string& file,
                          const std::string& hint) {
  auto read = TomlFile::Read(root, file);
  if (read.ok() || read.error().kind != ErrorKind::kNotFound) return read;
  return Invalid("there is no " + ForTerminal(file) +
                 ", without which the environment is not known")
      .WithHint(hint);
}

// Adds the source of a locked package if it is a file of the project. kInvalid for a folder.
Status AddSource(const std::string& file, const TomlFile::Entry& source, PackageList* list) {
  const std::string where = file + ":" + std::to_string(source.line);
  for (const char* key : {"editable", "directory", "virtual"}) {
    const auto folder = source.Text(key);
    if (!folder || *folder == ".") continue;
    return Invalid(where + ": `" + ForTerminal(*folder) +
                   "` is a folder that is installed; an environment cannot hold one that changes")
        .WithHint("make a wheel of it (`uv build --wheel`) and depend on that");
  }
  const auto path = source.Text("path");
  if (!path || path->starts_with('/')) return {};
  const std::string folder = DirName(file);
  const std::string relative = folder == "." || folder.empty() ? *path : JoinPath(folder, *path);
  Status added = list->AddFile(relative);
  if (added.ok()) return {};
  return std::move(added).error().Wrap(where);
}

}  // namespace

Status AddUvProject(const std::string& root, const std::string& file, PackageList* list) {
  const std::string folder = DirName(file);
  const auto beside = [&](const char* name) {
    return folder == "." || folder.empty() ? std::string(name) : JoinPath(folder, name);
  };
  const std::string project = beside("pyproject.toml");
  const std::string lock = beside("uv.lock");
  TENON_TRY(const TomlFile project_file,
            ReadPart(root, project, "write it with `uv init --bare` and `uv add`"));
  TENON_TRY(const TomlFile lock_file,
            ReadPart(root, lock, "make it with `uv lock` in the folder of " + project));
  std::string python = project_file.Text({"project", "requires-python"}).value_or("");
  std::erase(python, ' ');
  list->packages().python = std::move(python);
  if (!list->packages().python.empty()) list->packages().python_where = project;
  TENON_TRY_VOID(list->AddFile(project, project_file.Normal()));
  TENON_TRY_VOID(list->AddFile(lock, lock_file.Normal()));
  for (const TomlFile::Entry& source : lock_file.TablesIn("package", "source")) {
    TENON_TRY_VOID(AddSource(lock, source, list));
  }
  return {};
}

}  // namespace tenon::project
