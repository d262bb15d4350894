// SPDX-License-Identifier: Apache-2.0
#include "project/script_path.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

constexpr size_t kMostCandidates = 2000;
constexpr int kMostDepth = 6;

// Removes `.`, `..` and doubled slashes from the text alone. Does not resolve links: the last part
// may be a symlink that the snapshot stores as a link.
std::string Normal(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

bool Inside(const std::string& root, const std::string& path) {
  return root == "/" || path == root || path.starts_with(root + "/");
}

std::string Below(const std::string& root, const std::string& path) {
  return path.substr(root == "/" ? 1 : root.size() + 1);
}

std::string ResolvedFolder(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(DirName(path).c_str(), resolved) == nullptr) return path;
  return JoinPath(resolved, BaseName(path));
}

bool IsFile(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Scripts below `folder`, relative to the root. Skips hidden folders and outputs/.
void CollectScripts(const std::string& root, const std::string& folder, int depth,
                    std::vector<std::string>* out) {
  const Result<std::vector<std::string>> names = ListDir(JoinPath(root, folder));
  if (!names.ok() || depth > kMostDepth) return;
  for (const std::string& name : *names) {
    if (out->size() >= kMostCandidates) return;
    if (name.starts_with('.') || (depth == 0 && name == "outputs")) continue;
    const std::string path = folder.empty() ? name : JoinPath(folder, name);
    if (IsDirectory(JoinPath(root, path))) {
      CollectScripts(root, path, depth + 1, out);
    } else if (name.ends_with(".py")) {
      out->push_back(path);
    }
  }
}

// The script that the user may have meant: the same name elsewhere, or a similar path or name.
std::optional<std::string> NearestScript(const std::string& root, const std::string& wanted) {
  std::vector<std::string> scripts;
  CollectScripts(root, "", 0, &scripts);
  std::sort(scripts.begin(), scripts.end());
  std::vector<std::string> names;
  for (const std::string& script : scripts) {
    if (BaseName(script) == BaseName(wanted)) return script;
    names.emplace_back(BaseName(script));
  }
  if (auto near = DidYouMean(wanted, scripts)) return near;
  const auto near = DidYouMean(BaseName(wanted), names);
  if (!near) return std::nullopt;
  return scripts[std::find(names.begin(), names.end(), *near) - names.begin()];
}

std::string WithSlashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

Error Missing(const std::string& root, const std::string& base, const std::string& path,
              const std::string& typed, std::string_view what) {
  Error error = NotFound(std::string(what) + " `" + ForTerminal(typed) + "` is not there");
  if (const auto near = NearestScript(root, Below(root, path))) {
    const auto shown = std::filesystem::path(JoinPath(root, *near)).lexically_relative(base);
    error.hint = "did you mean `" + ForTerminal(shown.string()) + "`?";
  } else {
    error.hint = "paths start at " + ForTerminal(base);
  }
  return error;
}

}  // namespace

Result<std::string> FileInProject(const std::string& root, const std::string& cwd,
                                  const std::string& typed, std::string_view what) {
  const std::string here = ResolvedFolder(JoinPath(cwd, "."));
  const std::string folder = Normal(here);
  const std::string base = Inside(root, folder) ? folder : root;
  std::string path = Normal(JoinPath(base, typed));
  if (!Exists(path) && typed.find('\\') != std::string::npos) {
    path = Normal(JoinPath(base, WithSlashes(typed)));
  }
  if (base != folder && !IsFile(path) && IsFile(Normal(JoinPath(folder, typed)))) {
    path = Normal(JoinPath(folder, typed));
  }
  if (!Inside(root, path)) path = ResolvedFolder(path);
  const std::string shown = ForTerminal(typed);
  if (!Inside(root, path)) {
    return Invalid(std::string(what) + " `" + shown + "` is outside the project " +
                   ForTerminal(root))
        .WithHint("copy it into the project: only the project's folder is taken along");
  }
  if (IsFile(path)) return Below(root, path);
  if (IsDirectory(path)) return Invalid(std::string(what) + " `" + shown + "` is a folder");
  if (Exists(path)) return Invalid(std::string(what) + " `" + shown + "` is not a regular file");
  return Missing(root, base, path, typed, what);
}

}  // namespace tenon::project
