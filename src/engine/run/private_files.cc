// SPDX-License-Identifier: Apache-2.0
#include "engine/run/private_files.h"

#include <limits.h>
#include <stdlib.h>

#include <algorithm>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "snapshot/freeze/ignore.h"

namespace tenon::engine {
namespace {

// The entries of a home that could hold a project (run/layout.h).
constexpr std::string_view kOwnFolders[] = {
    "runs",    "objects", "stat-cache", "numbers", "kept-trees", "environments",
    "pins",    "hosts",   "keys",       "ssh",     "incoming",   "complete-trees",
    "retries", "bin",     "shim",       "tools",   "cache",      "host"};

std::string RealPath(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) != nullptr ? real : path;
}

// The root's ignore file that counts; if there is none, the one to make.
std::string IgnoreFileOf(const std::string& root) {
  for (const char* name : {".amlignore", ".gitignore"}) {
    if (std::string path = JoinPath(root, name); Exists(path)) return path;
  }
  return JoinPath(root, ".amlignore");
}

std::string AddLineCommand(const std::string& root, const std::string& line) {
  // The file may lack its last line end.
  return "printf '\\n%s\\n' " + ShellQuote(line) + " >> " + ShellQuote(IgnoreFileOf(root));
}

}  // namespace

std::vector<snapshot::FolderId> HomesOf(const Context& context) {
  std::vector<std::string> paths = {context.home.root()};
  const std::string user_home = GetVariable(CurrentEnvironment(), "HOME");
  if (!user_home.empty()) paths.push_back(JoinPath(user_home, ".tenon"));
  return snapshot::IdsOf(paths);
}

Status CheckOutsideHome(const Context& context, const std::string& folder) {
  const std::string home = RealPath(context.home.root()), real = RealPath(folder);
  if (!real.starts_with(home + "/")) return {};
  const std::vector<std::string> parts = Split(real.substr(home.size() + 1), '/');
  const bool own =
      std::find(std::begin(kOwnFolders), std::end(kOwnFolders), parts[0]) != std::end(kOwnFolders);
  const bool work = parts[0] == "runs" && parts.size() > 2 && parts[2] == "work";  // as in 0.1.0
  if (!own || work) return {};
  return Invalid(ForTerminal(folder) + " lies in Tenon's own folder " + ForTerminal(home))
      .WithHint("keep the project in a folder of its own");
}

std::string SomeNames(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(kShown, names.size());
  std::string text = ForTerminal(Join(
      std::vector<std::string>(names.begin(), names.begin() + static_cast<long>(shown)), ", "));
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

std::string TakeAlongCommand(const std::string& root, const snapshot::LeftOut& left_out) {
  return AddLineCommand(
      root, "!" + snapshot::PatternFor(left_out.path) + (left_out.is_folder ? "/" : ""));
}

std::vector<run::Notice> PrivateNotices(const snapshot::Frozen& frozen, const std::string& root) {
  std::vector<run::Notice> notices;
  if (!frozen.homes.empty()) {
    notices.push_back({run::Level::kInfo,
                       "left out, because it is Tenon's own folder: " + SomeNames(frozen.homes),
                       ""});
  }
  if (!frozen.keys.empty()) {
    std::vector<std::string> names;
    for (const snapshot::LeftOut& key : frozen.keys) {
      names.push_back(key.path + (key.is_folder ? "/" : "") + " (" + key.reason + ")");
    }
    notices.push_back({run::Level::kWarning,
                       "left out, because keys and passwords stay here: " + SomeNames(names),
                       "to take " + ForTerminal(frozen.keys.front().path) + " along: `" +
                           TakeAlongCommand(root, frozen.keys.front()) + "`"});
  }
  if (!frozen.named.empty()) {
    notices.push_back({run::Level::kInfo,
                       "taken along, and often private: " + SomeNames(frozen.named),
                       "to leave " + ForTerminal(frozen.named.front()) + " out: `" +
                           AddLineCommand(root, snapshot::PatternFor(frozen.named.front())) + "`"});
  }
  return notices;
}

}  // namespace tenon::engine
