// SPDX-License-Identifier: Apache-2.0
#include "run/script_folders.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/disk_usage.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::run {
namespace {

constexpr const char* kNames[] = {"work", "metrics"};

// `inside`: the place in the run's own folder; `real`: where it leads.
Status Remove(const RunFolder& folder, const std::string& inside, const std::string& real) {
  TENON_TRY_VOID(RemoveTree(real));
  if (real == inside) return {};
  TENON_TRY_VOID(RemoveFile(inside));
  (void)::rmdir(folder.script_folder().c_str());  // succeeds once both are gone
  return {};
}

}  // namespace

Status MakeScriptFolders(const RunFolder& folder) {
  TENON_TRY_VOID(RemoveWork(folder));
  TENON_TRY_VOID(RemoveMetrics(folder));
  const std::string target = folder.script_folder();
  for (const char* name : kNames) {
    const std::string link = JoinPath(folder.path(), name);
    const std::string text = "../../work/" + std::string(BaseName(folder.path())) + "/" + name;
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

uint64_t RemoveLostScriptFolders(const Home& home, bool dry_run) {
  uint64_t freed = 0;
  for (const std::string& id : ListDir(home.work()).value_or({})) {
    const RunFolder folder(home, id);
    if (Exists(folder.path())) continue;
    freed += DiskBytes(folder.script_folder());
    if (!dry_run) (void)RemoveTree(folder.script_folder()).ok();
  }
  return freed;
}

}  // namespace tenon::run
