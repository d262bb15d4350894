// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/packages.h"

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/conda_file.h"
#include "project/dependencies/package_list.h"
#include "project/dependencies/uv_lock.h"
#include "project/script_path.h"

namespace tenon::project {
namespace {

constexpr std::string_view kUsual = "aml_config/conda_dependencies.yml";

std::string Where(const Setting<std::string>& file) {
  return file.origin.kind == Origin::Kind::kFile ? file.origin.Text() + ": CondaDependenciesFile: "
         : file.origin.kind == Origin::Kind::kOption ? file.origin.name + ": "
                                                     : "";
}

Result<ReadPackagesResult> Missing(const Setting<std::string>& file) {
  ReadPackagesResult out;
  if (!file.given()) return out;
  const std::string text = Where(file) + "there is no file `" + ForTerminal(file.value) + "`";
  if (file.value == kUsual) {
    out.notices.push_back(text + ", so nothing is installed");
    return out;
  }
  return NotFound(text).WithHint(
      "write the file, or the path of another, relative to the project's folder");
}

Result<ReadPackagesResult> FromConda(const std::string& root, const std::string& file) {
  TENON_TRY(const CondaFile conda, ReadCondaFile(root, file));
  const auto python = conda.PythonVersion();
  PackageList list(root, !python || *python < std::pair(3, 8));
  list.notices() = conda.notices;
  for (const Setting<std::string>& channel : conda.channels) {
    list.NotePassword(channel.value, file + ":" + std::to_string(channel.origin.line));
    list.packages().channels.push_back(channel.value);
  }
  for (const Dependency& item : conda.items) TENON_TRY_VOID(list.AddItem(item, file));
  list.packages().format = "conda";
  return ReadPackagesResult{list.Take(), std::move(list.notices())};
}

Result<ReadPackagesResult> FromRequirements(const std::string& root, const std::string& file) {
  PackageList list(root, false);
  TENON_TRY_VOID(list.AddRequirements(file));
  list.packages().format = "requirements";
  return ReadPackagesResult{list.Take(), std::move(list.notices())};
}

Result<ReadPackagesResult> FromUvLock(const std::string& root, const std::string& file) {
  PackageList list(root, false);
  TENON_TRY_VOID(AddUvProject(root, file, &list));
  list.packages().format = "uv-lock";
  return ReadPackagesResult{list.Take(), std::move(list.notices())};
}

Result<ReadPackagesResult> ReadForm(const std::string& root, const std::string& file) {
  switch (PackagesFormatOf(file)) {
    case PackagesFormat::kConda:
      return FromConda(root, file);
    case PackagesFormat::kRequirements:
      return FromRequirements(root, file);
    case PackagesFormat::kUvLock:
      return FromUvLock(root, file);
    case PackagesFormat::kUnknown:
      break;
  }
  return Invalid("`" + ForTerminal(file) + "` is no file of dependencies that is known here")
      .WithHint(
          "known are conda files (*.yml), requirements files (*.txt) and pyproject.toml with "
          "uv.lock");
}

}  // namespace

PackagesFormat PackagesFormatOf(std::string_view file) {
  const std::string name = ToLower(BaseName(file));
  const auto ends = [&name](std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings) {
      if (name.ends_with(ending)) return true;
    }
    return false;
  };
  if (name == "pyproject.toml" || name == "uv.lock") return PackagesFormat::kUvLock;
  if (ends({".txt", ".in"})) return PackagesFormat::kRequirements;
  if (ends({".toml", ".lock", ".py", ".cfg"}) || name == "pipfile") return PackagesFormat::kUnknown;
  return PackagesFormat::kConda;
}

Result<ReadPackagesResult> ReadPackages(const std::string& root, const Setting<std::string>& file) {
  if (file.value.empty()) return ReadPackagesResult{};
  Result<std::string> path = FileInProject(root, root, file.value, "the file");
  if (!path.ok()) {
    if (path.error().kind == ErrorKind::kNotFound) return Missing(file);
    path.error().message.insert(0, Where(file));
    return std::move(path).error();
  }
  TENON_TRY(ReadPackagesResult out, ReadForm(root, *path));
  out.packages.file = *path;
  return out;
}

}  // namespace tenon::project
