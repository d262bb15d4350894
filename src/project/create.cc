// SPDX-License-Identifier: Apache-2.0
#include "project/create.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tenon::project {
namespace {

constexpr size_t kLongestName = 100;

Status WriteInto(const std::string& folder, const std::vector<NewFile>& files) {
  std::set<std::string> folders = {folder};
  for (const NewFile& file : files) {
    const std::string path = JoinPath(folder, file.path);
    TENON_TRY_VOID(MakeDirs(DirName(path)));
    TENON_TRY_VOID(
        WriteFileAtomically(path, file.bytes, file.executable ? 0755 : 0644, Durability::kWhole));
    folders.insert(DirName(path));
  }
  for (const std::string& one : folders) TENON_TRY_VOID(FsyncDir(one));
  return {};
}

std::string PartOr(std::string part, std::string_view otherwise) {
  std::replace(part.begin(), part.end(), '/', '_');
  return part.empty() || part == "." || part == ".." ? std::string(otherwise) : part;
}

}  // namespace

Result<std::vector<std::string>> WriteNewFolder(const std::string& given,
                                                const std::vector<NewFile>& files, bool force) {
  std::string folder = given;
  while (folder.size() > 1 && folder.ends_with("/")) folder.pop_back();
  std::vector<std::string> paths;
  for (const NewFile& file : files) paths.push_back(file.path);
  std::sort(paths.begin(), paths.end());
  if (Exists(folder)) {
    if (!IsDirectory(folder)) return Invalid(ForTerminal(folder) + " is there and is no folder");
    TENON_TRY(const auto present, ListDir(folder));
    if (!present.empty() && !force) {
      return Invalid("the folder " + ForTerminal(folder) + " is there and not empty")
          .WithHint(
              "choose another place; or --force adds the files, replacing those of the same "
              "names");
    }
    TENON_TRY_VOID(WriteInto(folder, files));
    return paths;
  }
  TENON_TRY_VOID(MakeDirs(DirName(folder)));
  const std::string temporary = folder + ".tenon-" + RandomHex(4);
  Status status = WriteInto(temporary, files);
  if (status.ok()) status = RenameFile(temporary, folder);
  if (!status.ok()) {
    (void)RemoveTree(temporary).ok();
    return std::move(status).error();
  }
  TENON_TRY_VOID(FsyncDir(DirName(folder)));
  return paths;
}

std::string ProjectJson(const std::string& id, const Scope& scope, const std::string& name) {
  const std::string text = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/" +
                           PartOr(scope.resource_group, "local") +
                           "/providers/Microsoft.MachineLearningExperimentation/accounts/" +
                           PartOr(scope.account, "local") + "/workspaces/" +
                           PartOr(scope.workspace, "local") + "/projects/" + name;
  return json::Print(json::Object{{"Id", id}, {"Scope", text}});
}

Status CheckProjectName(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
                    name.front() != '-' &&
                    name.find_first_of("/\\\n\t") == std::string_view::npos && IsUtf8(name) &&
                    ForTerminal(name) == name && Trim(name) == name;
  if (good) return {};
  return Invalid("`" + ForTerminal(name) + "` cannot be the name of a project")
      .WithHint("it becomes the folder's name: up to 100 bytes, no slashes, no dash in front");
}

}  // namespace tenon::project
