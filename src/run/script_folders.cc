// SPDX-License-Identifier: Apache-2.0
#include "run/script_folders.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <string_view>

#include "base/disk_usage.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::run {
namespace {

constexpr std::string_view kNames[] = {"work", "metrics"};
constexpr int64_t kLostForUs = int64_t{7} * 24 * 3600 * 1'000'000;

// `inside`: the path in the run's own folder. `real`: the path that it leads to.
Status Remove(const RunFolder& folder, const std::string& inside, const std::string& real) {
  TENON_TRY_VOID(RemoveTree(real));
  if (real == inside) return {};
  TENON_TRY_VOID(RemoveFile(inside));
  (void)::rmdir(folder.script_folder().c_str());  // succeeds once both are gone
  return {};
}

// Compares only the end of paths: what comes before differs in the mounts of a container, and in a
// home that is reached under another name.
bool IsInUse(std::string_view id) {
  const std::string place = "/work/" + std::string(id) + "/";
  auto processes = ListDir("/proc");
  if (!processes.ok()) return true;
  for (const std::string& name : *processes) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string process = JoinPath("/proc", name);
    const std::string cwd = ReadLink(process + "/cwd").value_or("") + "/";
    if (cwd.find(place) != std::string::npos) return true;
    const auto mounts = ReadFile(process + "/mountinfo");
    if (mounts.ok() && mounts->find(place) != std::string::npos) return true;
  }
  return false;
}

bool IsLost(const RunFolder& folder, int64_t now_us) {
  const std::string path = folder.script_folder();
  const std::string_view id = BaseName(path);
  if (TimeInRunId(id) == 0 || Exists(folder.path())) return false;
  auto names = ListDir(path);
  if (!names.ok()) return false;
  int64_t changed = ModifiedUs(path);
  for (const std::string& name : *names) {
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return false;
    changed = std::max(changed, ModifiedUs(JoinPath(path, name)));
  }
  return now_us - changed >= kLostForUs && !IsInUse(id);
}

}  // namespace

Status MakeScriptFolders(const RunFolder& folder) {
  TENON_TRY_VOID(RemoveWork(folder));
  TENON_TRY_VOID(RemoveMetrics(folder));
  const std::string target = folder.script_folder();
  TENON_TRY_VOID(RemoveTree(target));
  for (const std::string_view name : kNames) {
    const std::string link = JoinPath(folder.path(), name);
    const std::string text = JoinPath("../../work/" + std::string(BaseName(target)), name);
    if (::symlink(text.c_str(), link.c_str()) != 0) return FromErrno("make " + link, errno);
  }
  TENON_TRY_VOID(MakeDirs(DirName(target), 0700));
  return MakeDirs(target, 0700);
}

Status RemoveWork(const RunFolder& folder) {
  return Remove(folder, JoinPath(folder.path(), "work"), folder.work());
}

Status RemoveMetrics(const RunFolder& folder) {
  return Remove(folder, JoinPath(folder.path(), "metrics"), folder.metrics());
}

Status RemoveRun(const RunFolder& folder) {
  TENON_TRY_VOID(RemoveTree(folder.script_folder()));
  return RemoveTree(folder.path());
}

uint64_t RunBytes(const RunFolder& folder) {
  return DiskBytes(folder.path()) + DiskBytes(folder.script_folder());
}

uint64_t RemoveLostScriptFolders(const Home& home, int64_t now_us, bool dry_run) {
  uint64_t freed = 0;
  for (const std::string& id : ListDir(home.script_folders()).value_or({})) {
    const RunFolder folder(home, id);
    if (!IsLost(folder, now_us)) continue;
    const uint64_t bytes = DiskBytes(folder.script_folder());
    if (dry_run || RemoveTree(folder.script_folder()).ok()) freed += bytes;
  }
  return freed;
}

}  // namespace tenon::run
